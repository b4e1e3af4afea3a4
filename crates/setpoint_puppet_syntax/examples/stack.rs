fn main() {
    let links: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    for (first, link) in [
        ("$x = 1", " + 1"),
        ("File['a']", " -> File['a']"),
        ("$x", ".foo()"),
        ("$x = $y", "[1]"),
        ("if $a { notice(1) }", " elsif $a { notice(1) }"),
    ] {
        let text = format!("{first}{}", link.repeat(links));
        for kb in [64, 128, 256, 512, 1024, 2048, 4096, 8192] {
            let exe = std::env::current_exe().unwrap();
            if std::env::args().nth(2).is_none() {
                let s = std::process::Command::new(&exe)
                    .arg(links.to_string())
                    .arg(kb.to_string())
                    .arg(link)
                    .output()
                    .unwrap();
                if s.status.success() {
                    println!("{link}: {kb} KB ok");
                    break;
                }
            }
        }
        if let (Some(kb), Some(l)) = (std::env::args().nth(2), std::env::args().nth(3)) {
            if l == link {
                let t = text.clone();
                std::thread::Builder::new()
                    .stack_size(kb.parse::<usize>().unwrap() * 1024)
                    .spawn(move || {
                        let p = setpoint_puppet_syntax::parse(setpoint_source::FileId(0), &t);
                        if std::env::var("CLONE").is_ok() {
                            let _ = p.program.clone();
                        }
                        drop(p);
                    })
                    .unwrap()
                    .join()
                    .unwrap();
            }
        }
    }
}
