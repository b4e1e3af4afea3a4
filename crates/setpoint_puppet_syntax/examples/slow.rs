fn main() {
    for mb in [1usize, 2] {
        for piece in [
            "\\/",
            "/",
            "\"",
            "'",
            "$",
            "@(",
            "@(A)\n",
            "${",
            "\"${",
            "<<|",
            "(",
            " (",
            "\u{a0}(",
            "::",
            "Foo::",
            "foo::",
            "0x",
            "1.",
            "1e",
            "/*",
            "#",
            "\r",
            "\r\n",
            "\u{feff}",
            "\0",
            "é",
            "}",
            "]",
            "{",
            "[",
            "|",
            "-%>",
            "<%",
            "%>",
            "class a { ",
            "= ",
            ", ",
            "; ",
            "\\",
            "\"\\",
            "if ",
            "@@",
            "x => ",
            "x: ",
            "@(\"A\")\n${",
            "plan a(",
            "''",
            "\"\"\"",
        ] {
            let text = piece.repeat(mb * 1_000_000 / piece.len());
            let t = std::time::Instant::now();
            let p = setpoint_puppet_syntax::parse(setpoint_source::FileId(0), &text);
            let a = t.elapsed();
            let t = std::time::Instant::now();
            let p2 = setpoint_puppet_syntax::parse_epp(setpoint_source::FileId(0), &text);
            let b = t.elapsed();
            let t = std::time::Instant::now();
            drop((p, p2));
            let c = t.elapsed();
            if a.as_millis() + b.as_millis() + c.as_millis() > 30 {
                println!("{mb} {piece:?} {a:?} {b:?} drop {c:?}");
            }
        }
    }
    for d in 0..1 {
        let _ = d;
        std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(|| {
                for o in [
                    "[",
                    "(",
                    "{a => ",
                    "if true { ",
                    "\"${",
                    "foo() || { ",
                    "$x ? { a => ",
                    "class a { case 1 { 1: { ",
                ] {
                    setpoint_puppet_syntax::parse(setpoint_source::FileId(0), &o.repeat(100000));
                }
            })
            .unwrap()
            .join()
            .unwrap();
        println!("2MB ok");
    }
}
