fn cpu() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 1e9
}
fn main() {
    let mut text = String::new();
    for i in 0..10_000 {
        text.push_str(&format!("file {{ '/tmp/dir/file{i}':\n  ensure  => file,\n  owner   => 'root',\n  mode    => '0644',\n  content => \"line ${{x}} {i}\\n\",\n}}\n"));
    }
    println!("{} bytes, Expr {} bytes", text.len(), std::mem::size_of::<setpoint_puppet_syntax::ast::Expr>());
    let dollars = "$".repeat(1_000_000);
    for (name, text) in [("files", &text), ("dollars", &dollars)] {
        let mut best = f64::MAX;
        for _ in 0..20 {
            let t = cpu();
            let p = setpoint_puppet_syntax::parse(setpoint_source::FileId(0), text);
            best = best.min(cpu() - t);
            std::hint::black_box(&p);
        }
        println!("{name} {:.1} ms", best * 1e3);
    }
}
