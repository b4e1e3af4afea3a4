fn main() {
    use std::io::BufRead;
    for path in std::io::stdin().lock().lines() {
        let path = path.unwrap();
        println!("### {path}");
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let sources = setpoint_source::Sources::new();
        let file = sources.add(path.clone(), text.clone());
        let p = if path.ends_with(".epp") {
            setpoint_puppet_syntax::parse_epp(file, &text)
        } else {
            setpoint_puppet_syntax::parse(file, &text)
        };
        if !p.diagnostics.iter().any(|d| d.severity == setpoint_source::Severity::Error) {
            if std::env::var("PLACES").as_deref() == Ok("0") {
                print!("{}", setpoint_puppet_syntax::dump(&p.program));
            } else {
                print!("{}", setpoint_puppet_syntax::dump_with_places(&p.program, &text));
            }
        }
        for d in &p.diagnostics {
            let pos = sources.position(d.span.unwrap());
            println!("{} {}:{} {}", d.severity.as_str(), pos.line, pos.column, d.message);
        }
    }
}
