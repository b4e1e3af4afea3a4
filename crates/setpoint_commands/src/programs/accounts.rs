//! Users and groups.

use super::{Done, arguments, needs, only};
use crate::infer::literal;
use crate::lexer::Word;
use crate::step::{NotUnderstood, Step};

pub(super) fn member(user: &Word, group: &Word) -> Done {
    only(Step::ChangeUser {
        name: literal(user)?,
        group: None,
        groups: vec![literal(group)?],
        append_groups: true,
        home: None,
    })
}

pub(super) fn user(name: &str, words: &[Word]) -> Done {
    let debian = name == "adduser";
    let found = arguments(
        name,
        words,
        &[
            ('d', "home", true),
            ('\u{1}', "home-dir", true),
            ('g', if debian { "ingroup" } else { "gid" }, true),
            ('G', "groups", true),
            ('a', "append", false),
            ('s', "shell", true),
            ('u', "uid", true),
            ('c', if debian { "gecos" } else { "comment" }, true),
            ('r', "system", false),
            ('m', "create-home", false),
            ('M', "no-create-home", false),
            ('\u{2}', "disabled-password", false),
            ('\u{3}', "disabled-login", false),
            ('\u{4}', "quiet", false),
            ('\u{5}', "group", false),
            ('p', "password", true),
            ('U', "user-group", false),
            ('N', "no-user-group", false),
            ('o', "non-unique", false),
            ('L', "lock", false),
            ('e', "expiredate", true),
            ('\u{6}', "move-home", false),
            ('b', "base-dir", true),
            ('k', "skel", true),
        ],
    )?;
    if let ([who, group], true) = (&found.operands[..], debian) {
        return member(who, group);
    }
    let [who] = found.operands[..] else { return Err(needs(name, "one user")) };
    let group = found.value('g').map(literal).transpose()?;
    let home = found.value('d').or_else(|| found.value('\u{1}')).map(literal).transpose()?;
    let groups: Vec<String> = match found.value('G') {
        Some(list) => literal(list)?.split(',').map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let name_of_user = literal(who)?;
    if name == "usermod" {
        if let Some(letter) =
            ['s', 'u', 'c', 'p', 'L', 'e', 'o'].into_iter().find(|letter| found.has(*letter))
        {
            return Err(NotUnderstood::new(format!("-{letter}"), "only groups and homes are followed"));
        }
        return only(Step::ChangeUser {
            name: name_of_user,
            group,
            groups,
            append_groups: found.has('a'),
            home,
        });
    }
    let create_home = if debian { !found.has('M') } else { found.has('m') && !found.has('M') };
    only(Step::CreateUser { name: name_of_user, group, groups, home, create_home, system: found.has('r') })
}
