//! Cases as text.

use std::fmt::Write;

/// One input or answer of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub text: String,
}

/// A fixture: what is promised, what goes in, what comes out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    pub prose: String,
    pub inputs: Vec<Section>,
    pub answers: Vec<Section>,
}

impl Case {
    pub fn parse(text: &str) -> Self {
        let mut case = Self::default();
        let mut answer = None;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end();
            if let Some(name) = bare.strip_prefix(">>> ") {
                answer = Some(false);
                case.inputs.push(Section { name: name.trim().to_owned(), text: String::new() });
            } else if let Some(name) = bare.strip_prefix("<<< ") {
                answer = Some(true);
                case.answers.push(Section { name: name.trim().to_owned(), text: String::new() });
            } else {
                let text = match answer {
                    None => Some(&mut case.prose),
                    Some(false) => case.inputs.last_mut().map(|section| &mut section.text),
                    Some(true) => case.answers.last_mut().map(|section| &mut section.text),
                };
                if let Some(text) = text {
                    text.push_str(line);
                }
            }
        }
        case
    }

    pub fn input(&self, name: &str) -> Option<&str> {
        find(&self.inputs, name)
    }

    pub fn answer(&self, name: &str) -> Option<&str> {
        find(&self.answers, name)
    }

    /// `key: value` in the prose.
    pub fn option(&self, key: &str) -> Option<&str> {
        self.prose.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
    }

    /// The file of this case, with all inputs before all answers.
    pub fn render(&self) -> String {
        let mut out = self.prose.clone();
        for (mark, sections) in [(">>>", &self.inputs), ("<<<", &self.answers)] {
            for Section { name, text } in sections {
                let _ = writeln!(out, "{mark} {name}");
                out.push_str(text);
                if !text.is_empty() && !text.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        out
    }
}

fn find<'a>(sections: &'a [Section], name: &str) -> Option<&'a str> {
    sections.iter().find(|section| section.name == name).map(|section| section.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::Case;

    #[test]
    fn a_case_is_rendered_as_it_was_read() {
        let text = "What is promised.\nnode: a\n>>> a.pp\nnotice(1)\n\n>>> b.pp\n<<< log\nnotice: 1\n";
        let case = Case::parse(text);
        assert_eq!(case.option("node"), Some("a"));
        assert_eq!(case.input("a.pp"), Some("notice(1)\n\n"));
        assert_eq!(case.answer("log"), Some("notice: 1\n"));
        assert_eq!(case.render(), text);
    }
}
