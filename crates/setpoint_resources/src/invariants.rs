//! What users state must hold, as tests over the cells of a plan.
//!
//! A sentence may name what no resource does. Its paths are mentioned before the models are made, so that packages that bring
//! them are seen to; cells that are still missing in the end are free: nothing in the catalog says what they hold.

use setpoint_config::{Fact, FileProperty, PathKind, Sentence};
use setpoint_state::{CellId, CellKey, CellKind, Kind, Space, Test, Value};

use crate::attributes::octal;
use crate::machine::{CONFIG_FILES, LATEST, Machine, PRESENT, absent, any, installed, never};
use crate::mentions::Mentions;
use crate::types::service::{RUNNING, enabled_cell, running_cell};
use crate::{Unit, World};

/// Names what a sentence is about.
pub(crate) fn mention(sentence: &Sentence, mentions: &mut Mentions, world: &World<'_>) {
    for fact in sentence.facts() {
        match fact {
            Fact::Path(path, _) => mentions.add_path(path, world),
            Fact::File(property, path, _) => mention_file(*property, path, mentions, world),
            Fact::Same(property, one, other) => {
                mention_file(*property, one, mentions, world);
                mention_file(*property, other, mentions, world);
            }
            _ => {}
        }
    }
}

fn mention_file(property: FileProperty, path: &str, mentions: &mut Mentions, world: &World<'_>) {
    mentions.add_path(path, world);
    if let Some(kind) = attribute(property) {
        mentions.manage(kind, path, world);
    }
}

fn attribute(property: FileProperty) -> Option<CellKind> {
    match property {
        FileProperty::Mode => Some(CellKind::Mode),
        FileProperty::Owner => Some(CellKind::Owner),
        FileProperty::Group => Some(CellKind::Group),
        FileProperty::Content | FileProperty::Target => None,
    }
}

/// A sentence as a test, each fact by itself; the reason if one cannot be asked.
pub(crate) fn test(
    sentence: &Sentence,
    fact: &mut dyn FnMut(&Fact) -> Result<Test, String>,
) -> Result<Test, String> {
    Ok(match sentence {
        Sentence::Fact(one) => fact(one)?,
        Sentence::Not(inner) => test(inner, fact)?.negate(),
        Sentence::All(parts) => {
            Test::All(parts.iter().map(|part| test(part, fact)).collect::<Result<_, _>>()?)
        }
        Sentence::Any(parts) => {
            Test::Any(parts.iter().map(|part| test(part, fact)).collect::<Result<_, _>>()?)
        }
    })
}

/// What is at a path that has a cell, or is a directory whatever happens.
fn kind(cell: Option<CellId>, wanted: PathKind) -> Test {
    let kind = match wanted {
        PathKind::Absent => Kind::Absent,
        PathKind::File => Kind::File,
        PathKind::Directory => Kind::Directory,
        PathKind::Link => Kind::Link,
    };
    match cell {
        Some(cell) => Test::Kind(cell, kind),
        None if kind == Kind::Directory => Test::True,
        None => never(),
    }
}

/// A fact in the paper's semantics, which knows paths alone.
pub(crate) fn of_paper(space: &Space, fact: &Fact) -> Result<Test, String> {
    let known = |path: &str| {
        let cell = space.find(&CellKey::path(path));
        cell.ok_or_else(|| format!("nothing in the catalog touches {path}"))
    };
    match fact {
        Fact::Path(path, wanted) => Ok(kind(Some(known(path)?), *wanted)),
        Fact::File(FileProperty::Content, path, text) => Ok(Test::is(known(path)?, Value::file(text))),
        Fact::Same(FileProperty::Content, one, other) => Ok(Test::same(known(one)?, known(other)?)),
        _ => Err("the paper's semantics knows only what is at a path".to_owned()),
    }
}

impl Machine<'_> {
    /// A fact as a test. Asked when all resources have their models: what has no cell by then, nothing in the catalog touches.
    pub(crate) fn fact(&mut self, fact: &Fact) -> Result<Test, String> {
        Ok(match fact {
            Fact::Path(path, wanted) => kind(self.named_path(path)?.1, *wanted),
            Fact::File(FileProperty::Content, path, text) => {
                let (path, _) = self.named_path(path)?;
                let plain = self.has_content(&path, &text.as_str().into());
                // A secret content is known by a name that stands for it.
                match (self.known_secret(text), self.path(&path)) {
                    (Some(name), Some(cell)) => any(vec![plain, Test::is(cell, Value::file(&name))]),
                    _ => plain,
                }
            }
            Fact::File(FileProperty::Target, path, target) => match self.named_path(path)?.1 {
                Some(cell) => Test::is(cell, Value::Link(target.as_str().into())),
                None => never(),
            },
            Fact::File(property, path, text) => {
                let wanted = match property {
                    FileProperty::Mode => octal(text)
                        .ok_or_else(|| format!("`{text}` is no whole mode: say it with digits, as `0644`"))?,
                    _ => text.clone(),
                };
                Test::is(self.attribute_of(*property, path)?, Value::text(&wanted))
            }
            Fact::Same(FileProperty::Content, one, other) => {
                let ((one, left), (other, right)) = (self.named_path(one)?, self.named_path(other)?);
                match (left, right) {
                    (Some(left), Some(_)) => {
                        let same = self.same_content(&one, &other);
                        Test::All(vec![Test::Kind(left, Kind::File), same])
                    }
                    _ => never(),
                }
            }
            Fact::Same(property, one, other) => {
                Test::same(self.attribute_of(*property, one)?, self.attribute_of(*property, other)?)
            }
            Fact::Installed(name) => installed(self.named_package(name)),
            Fact::Purged(name) => absent(self.named_package(name)),
            Fact::Version(name, version) => {
                let cell = self.named_package(name);
                let version = if version == "latest" { LATEST } else { version };
                if version == CONFIG_FILES {
                    return Err(format!("`{version}` is no version"));
                }
                Test::is(cell, Value::text(version))
            }
            Fact::Running(name) => {
                let unit = Unit::named(name, self.world.base.family);
                Test::is(running_cell(self, &unit), Value::text(RUNNING))
            }
            Fact::Enabled(name) => {
                let unit = Unit::named(name, self.world.base.family);
                Test::is(enabled_cell(self, &unit), Value::text("true"))
            }
            Fact::User(name) if self.is_base_user(name) && !self.mentions.users.contains(name) => Test::True,
            Fact::User(name) => absent(self.free_account(CellKind::User, name)).negate(),
            Fact::Group(name) if self.is_base_group(name) && !self.mentions.groups.contains(name) => {
                Test::True
            }
            Fact::Group(name) => absent(self.free_account(CellKind::UserGroup, name)).negate(),
            Fact::UserProperty(name, property, text) => {
                let key = CellKey::with_detail(CellKind::User, name, property);
                let cell = self.space.find(&key).ok_or_else(|| {
                    format!("no resource of the catalog sets the {property} of the user {name}")
                })?;
                Test::is(cell, Value::text(text))
            }
            Fact::Member { user, group } => absent(self.member(user, group)).negate(),
            Fact::Gid(name, text) => {
                let key = CellKey::new(CellKind::GroupNumber, name);
                let cell = self.space.find(&key);
                let cell = cell
                    .ok_or_else(|| format!("no resource of the catalog sets the gid of the group {name}"))?;
                Test::is(cell, Value::text(text))
            }
        })
    }

    /// Where a path leads to, and its cell; no cell for a directory that is there whatever happens.
    fn named_path(&mut self, path: &str) -> Result<(String, Option<CellId>), String> {
        let canonical = self.mentions.canonical(path, self.world);
        let canonical = canonical.ok_or_else(|| format!("`{path}` is no absolute path"))?;
        let cell = self.path(&canonical);
        Ok((canonical, cell))
    }

    fn attribute_of(&mut self, property: FileProperty, path: &str) -> Result<CellId, String> {
        let (canonical, _) = self.named_path(path)?;
        let cell = attribute(property).and_then(|kind| self.attribute(kind, &canonical));
        cell.ok_or_else(|| format!("nothing is known of {path} in this respect"))
    }

    fn named_package(&mut self, name: &str) -> CellId {
        let name = self.packages.real_name(name);
        self.package(&name)
    }

    /// A user or group that the catalog names; of another one nothing is known.
    fn free_account(&mut self, kind: CellKind, name: &str) -> CellId {
        let key = CellKey::new(kind, name);
        if let Some(known) = self.space.find(&key) {
            return known;
        }
        let cell = self.space.cell(key, &[Kind::Absent, Kind::Text]);
        self.start.push(Test::Any(vec![absent(cell), Test::is(cell, Value::text(PRESENT))]));
        cell
    }
}
