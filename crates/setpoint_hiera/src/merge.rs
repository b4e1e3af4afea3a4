//! How values of several levels become one.

use std::sync::LazyLock;

use setpoint_provenance::{Arena, Prov};
use setpoint_puppet_values::ruby::text::class;
use setpoint_puppet_values::types::assert_instance;
use setpoint_puppet_values::{Data, Hash, Key, Maker, Regex, Type, Value};

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nobody asked for a strategy: the first value counts.
    Default,
    First,
    Unique,
    Hash,
    Deep,
}

/// A strategy with its options.
#[derive(Debug, Clone)]
pub(crate) struct Merge {
    pub(crate) kind: Kind,
    /// The options other than the name of the strategy, for the explanation.
    pub(crate) options: Hash,
    deep: Deep,
}

/// What two values that cannot be merged become, and which of two counts more.
#[derive(Debug, Clone, Default)]
struct Deep {
    /// The lower level counts more, as Hiera 3 has it for `deep`.
    reverse: bool,
    knockout: Option<Knockout>,
    sort: bool,
    hash_arrays: bool,
}

#[derive(Debug, Clone)]
struct Knockout {
    prefix: String,
    /// Puppet takes the prefix for a part of a regular expression.
    pattern: Regex,
}

fn parsed(text: &str) -> Type {
    Type::parse(text, &|_| None).unwrap_or(Type::Any)
}

static HASH_VALUES: LazyLock<Type> = LazyLock::new(|| parsed("Hash[String, Data]"));
static UNIQUE_VALUES: LazyLock<Type> = LazyLock::new(|| parsed("Variant[Scalar, Array[Data]]"));
static DEEP_OPTIONS: LazyLock<Type> = LazyLock::new(|| {
    parsed(
        "Struct[{strategy => Optional[Pattern[/deep/]], knockout_prefix => Optional[String], merge_debug => Optional[Boolean], \
         merge_hash_arrays => Optional[Boolean], sort_merged_arrays => Optional[Boolean]}]",
    )
});

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::First => "first",
            Self::Unique => "unique",
            Self::Hash => "hash",
            Self::Deep => "deep",
        }
    }
}

impl Merge {
    pub(crate) fn plain(kind: Kind) -> Self {
        Self { kind, options: Hash::default(), deep: Deep::default() }
    }

    pub(crate) fn is_first(&self) -> bool {
        matches!(self.kind, Kind::Default | Kind::First)
    }

    /// The strategy that a value names: nothing, a name, or a hash with options.
    pub(crate) fn of(wanted: Option<&Value>) -> Result<Self, Failure> {
        let Some(wanted) = wanted.filter(|wanted| wanted.is_true()) else {
            return Ok(Self::plain(Kind::Default));
        };
        let (name, options) = match &wanted.data {
            Data::Hash(options) => {
                let Some(name) = options.get(&Key::from("strategy")).filter(|name| !name.is_undef()) else {
                    return Err(Failure::other(
                        "The hash given as 'merge' must contain the name of a strategy in string form for the key 'strategy'",
                    ));
                };
                (name, if options.len() == 1 { Hash::default() } else { (**options).clone() })
            }
            _ => (wanted, Hash::default()),
        };
        let kind = match name.as_str() {
            Some("default") => Kind::Default,
            Some("first") => Kind::First,
            Some("unique") => Kind::Unique,
            Some("hash") => Kind::Hash,
            Some("deep") => Kind::Deep,
            _ => {
                let name = setpoint_puppet_values::ruby::text::to_s(name);
                return Err(Failure::other(format!("Unknown merge strategy: '{name}'")));
            }
        };
        if !options.is_empty() {
            let of = if kind == Kind::Deep {
                DEEP_OPTIONS.clone()
            } else {
                parsed(&format!("Struct[{{strategy => Optional[Pattern[/{}/]]}}]", kind.name()))
            };
            assert_instance("The merge options", &of, &Value::hash(options.clone()))
                .map_err(|error| Failure::puppet(error.message))?;
        }
        let mut merge = Self { kind, options, deep: Deep::default() };
        if kind == Kind::Deep {
            merge.deep = Deep::of(&merge.options)?;
        }
        merge.options.shift_remove(&Key::from("strategy"));
        Ok(merge)
    }

    /// How `hiera_hash()` merges where a configuration of version 3 names a behaviour: of `deep`, the lower level counts more.
    pub(crate) fn of_hiera_3(reverse: bool, options: Hash) -> Result<Self, Failure> {
        let deep = Deep { reverse, ..Deep::of(&options)? };
        Ok(Self { kind: Kind::Deep, options, deep })
    }

    /// What the first of several values becomes.
    pub(crate) fn start(&self, value: Value, arena: &mut Arena) -> Value {
        let changes = self.kind == Kind::Unique && !is_opaque(&value);
        if changes { made_from(Value::array(flat(&value)), value.prov, arena) } else { value }
    }

    /// What the only value becomes.
    pub(crate) fn single(&self, value: Value, arena: &mut Arena) -> Value {
        match &value.data {
            Data::Array(items) if self.kind == Kind::Unique => {
                let unique = union(Vec::new(), items.to_vec());
                made_from(Value::array(unique), value.prov, arena)
            }
            _ => value,
        }
    }

    /// Merges a value of a lower level into what was found before.
    pub(crate) fn join(&self, higher: &Value, lower: &Value, arena: &mut Arena) -> Result<Value, Failure> {
        if let Some(opaque) = [higher, lower].into_iter().find(|value| is_opaque(value)) {
            return Ok(opaque.clone());
        }
        match self.kind {
            Kind::Default | Kind::First => Ok(higher.clone()),
            Kind::Hash => {
                check(&HASH_VALUES, higher, lower)?;
                let (Data::Hash(above), Data::Hash(below)) = (&higher.data, &lower.data) else {
                    return Ok(higher.clone());
                };
                let mut merged = (**below).clone();
                merged.extend(above.iter().map(|(key, value)| (key.clone(), value.clone())));
                Ok(by_key(Value::hash(merged), [higher, lower], arena))
            }
            Kind::Unique => {
                check(&UNIQUE_VALUES, higher, lower)?;
                let merged = union(flat(higher), flat(lower));
                // An element that is not known may be any of the others.
                let unknown = merged.iter().find_map(Value::unknown_part).map(|part| part.reason.clone());
                let merged = match unknown {
                    Some(reason) => Value::unknown(reason, Type::Array(None)),
                    None => Value::array(merged),
                };
                Ok(by_value(merged, [higher, lower], arena))
            }
            Kind::Deep if self.deep.reverse => self.deep.merge(lower.clone(), higher.clone(), arena),
            Kind::Deep => self.deep.merge(higher.clone(), lower.clone(), arena),
        }
    }
}

/// A hash that was merged of two: it has the keys of both, and of values that others hide it has nothing.
fn by_key(merged: Value, of: [&Value; 2], arena: &mut Arena) -> Value {
    let shape = of.map(|value| match &value.data {
        Data::Hash(_) => arena.shape(value.prov),
        _ => value.prov,
    });
    let of = of.map(|value| value.prov);
    Maker { name: "merge".into(), span: None, of: &of, shape: Some(&shape) }.explain(merged, arena)
}

/// A value that was merged of two: which elements it has depends on what they are.
fn by_value(merged: Value, of: [&Value; 2], arena: &mut Arena) -> Value {
    let of = of.map(|value| value.prov);
    Maker { name: "merge".into(), span: None, of: &of, shape: None }.explain(merged, arena)
}

/// A value that was made, or chosen, because of another one, whatever is in that.
fn made_from(value: Value, of: Prov, arena: &mut Arena) -> Value {
    Maker { name: "merge".into(), span: None, of: &[of], shape: None }.explain(value, arena)
}

fn check(of: &Type, higher: &Value, lower: &Value) -> Result<(), Failure> {
    for (subject, value) in
        [("The first element of the merge", higher), ("The second element of the merge", lower)]
    {
        if value.unknown_part().is_none() {
            assert_instance(subject, of, value).map_err(|error| Failure::puppet(error.message))?;
        }
    }
    Ok(())
}

fn is_opaque(value: &Value) -> bool {
    matches!(value.data, Data::Opaque(_))
}

fn flat(value: &Value) -> Vec<Value> {
    fn flatten(value: &Value, into: &mut Vec<Value>) {
        match &value.data {
            Data::Array(items) => items.iter().for_each(|item| flatten(item, into)),
            _ => into.push(value.clone()),
        }
    }
    let mut items = Vec::new();
    flatten(value, &mut items);
    items
}

/// Ruby's `a | b`: the elements of both, each once.
fn union(first: Vec<Value>, second: Vec<Value>) -> Vec<Value> {
    let mut seen = rustc_hash::FxHashSet::default();
    first.into_iter().chain(second).filter(|item| seen.insert(Key(item.clone()))).collect()
}

/// The deep merge, step by step as the library `deep_merge` does it for Puppet: `source` is of the higher level.
impl Deep {
    fn of(options: &Hash) -> Result<Self, Failure> {
        let option = |name: &str| options.get(&Key::from(name)).filter(|value| value.is_true());
        let knockout = match option("knockout_prefix").and_then(Value::as_str) {
            None => None,
            Some("") => {
                return Err(Failure::other("knockout_prefix cannot be an empty string in deep_merge!"));
            }
            Some(prefix) => {
                let pattern =
                    Regex::new(format!("^{prefix}")).map_err(|error| Failure::other(error.message))?;
                Some(Knockout { prefix: prefix.to_owned(), pattern })
            }
        };
        Ok(Self {
            reverse: false,
            knockout,
            sort: option("sort_merged_arrays").is_some(),
            hash_arrays: option("merge_hash_arrays").is_some(),
        })
    }

    fn merge(&self, source: Value, dest: Value, arena: &mut Arena) -> Result<Value, Failure> {
        if source.is_undef() {
            return Ok(made_from(dest, source.prov, arena));
        }
        if !dest.is_true() {
            return Ok(made_from(source, dest.prov, arena));
        }
        // What is not known could be merged in any way.
        if is_opaque(&dest) && matches!(source.data, Data::Hash(_) | Data::Array(_)) {
            return Ok(dest);
        }
        match &source.data {
            Data::Hash(entries) => self.merge_hash(&source, entries, dest, arena),
            Data::Array(items) => {
                let merged = self.merge_array(items.to_vec(), dest.clone(), arena)?;
                Ok(by_value(merged, [&source, &dest], arena))
            }
            _ => {
                let of = source.prov;
                let value = self.overwritten(source);
                Ok(if value.prov.is_changed() { made_from(value, of, arena) } else { value })
            }
        }
    }

    fn merge_hash(
        &self,
        source: &Value,
        entries: &Hash,
        dest: Value,
        arena: &mut Arena,
    ) -> Result<Value, Failure> {
        let mut entries_left = entries.iter();
        let mut merged = match &dest.data {
            Data::Hash(below) => Hash::clone(below),
            // A hash over something else replaces it at its first key, and is then merged with itself.
            _ => match entries_left.next() {
                None => return Ok(dest),
                Some(_) => entries.clone(),
            },
        };
        for (key, value) in entries_left {
            let below = merged.get(key).filter(|below| below.is_true()).cloned();
            let below = below.unwrap_or_else(|| value.clone());
            merged.insert(key.clone(), self.merge(value.clone(), below, arena)?);
        }
        Ok(by_key(Value::hash(merged), [source, &dest], arena))
    }

    fn merge_array(
        &self,
        mut source: Vec<Value>,
        mut dest: Value,
        arena: &mut Arena,
    ) -> Result<Value, Failure> {
        if let Some(knockout) = &self.knockout {
            let is_prefix = |item: &Value| item.as_str() == Some(&knockout.prefix);
            if source.iter().any(is_prefix) {
                dest = match dest.data {
                    Data::Array(_) => Value::array(Vec::new()),
                    Data::Hash(_) => Value::hash(Hash::default()),
                    Data::String(_) => Value::from(""),
                    _ => Value::UNDEF,
                };
                source.retain(|item| !is_prefix(item));
            }
        }
        let Data::Array(below) = &dest.data else {
            return Ok(self.overwritten(Value::array(source)));
        };
        let mut below = below.to_vec();
        if let Some(knockout) = &self.knockout {
            source.retain(|item| {
                let Some(bare) = item.as_str().and_then(|text| knockout.removed_from(text)) else {
                    return true;
                };
                let bare = Value::from(bare);
                below.retain(|known| *known != bare && known != item);
                false
            });
        }
        let hashes = |items: &[Value]| items.iter().all(|item| matches!(item.data, Data::Hash(_)));
        let mut merged = if self.hash_arrays && hashes(&source) && hashes(&below) {
            let mut list = Vec::with_capacity(below.len().max(source.len()));
            let count = below.len();
            for (at, lower) in below.into_iter().enumerate() {
                let higher = source.get(at).cloned().unwrap_or_else(|| Value::hash(Hash::default()));
                list.push(self.merge(higher, lower, arena)?);
            }
            list.extend(source.into_iter().skip(count));
            list
        } else {
            union(below, source)
        };
        if self.sort {
            merged = sorted(merged)?;
        }
        Ok(Value::array(merged))
    }

    /// What takes the place of a value that cannot be merged.
    fn overwritten(&self, source: Value) -> Value {
        let Some(knockout) = &self.knockout else { return source };
        match &source.data {
            Data::String(text) => {
                if knockout.removed_from(text).is_some() {
                    Value::from("").made_of(source.prov)
                } else {
                    source
                }
            }
            Data::Array(items) => {
                let kept = items
                    .iter()
                    .filter(|item| item.as_str().is_none_or(|text| knockout.removed_from(text).is_none()));
                Value::array(kept.cloned().collect()).made_of(source.prov)
            }
            _ => source,
        }
    }
}

impl Knockout {
    /// The text without the prefix, if it has it.
    fn removed_from(&self, text: &str) -> Option<String> {
        let found = self.pattern.find_all(text).ok()?;
        if found.iter().all(|found| found.start() == found.end()) {
            return None;
        }
        let mut out = String::new();
        let mut done = 0;
        for one in &found {
            out.push_str(text.get(done..one.start()).unwrap_or(""));
            done = one.end();
        }
        out.push_str(text.get(done..).unwrap_or(""));
        Some(out)
    }
}

fn sorted(mut items: Vec<Value>) -> Result<Vec<Value>, Failure> {
    use std::cmp::Ordering;
    fn compare(a: &Value, b: &Value) -> Option<Ordering> {
        match (&a.data, &b.data) {
            (Data::String(a), Data::String(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Data::Integer(a), Data::Integer(b)) => Some(a.cmp(b)),
            (Data::Float(a), Data::Float(b)) => a.partial_cmp(b),
            (Data::Integer(a), Data::Float(b)) => (*a as f64).partial_cmp(b),
            (Data::Float(a), Data::Integer(b)) => a.partial_cmp(&(*b as f64)),
            (Data::Array(a), Data::Array(b)) => {
                for (a, b) in a.iter().zip(b.iter()) {
                    match compare(a, b)? {
                        Ordering::Equal => {}
                        other => return Some(other),
                    }
                }
                Some(a.len().cmp(&b.len()))
            }
            _ => (a == b).then_some(Ordering::Equal),
        }
    }
    let mut problem = None;
    items.sort_by(|a, b| {
        compare(a, b).unwrap_or_else(|| {
            problem.get_or_insert_with(|| {
                let named = |value: &Value| match &value.data {
                    Data::Integer(_) | Data::Float(_) | Data::Bool(_) | Data::Undef => {
                        setpoint_puppet_values::ruby::text::inspect(value)
                    }
                    _ => class(value).to_owned(),
                };
                format!("comparison of {} with {} failed", class(a), named(b))
            });
            Ordering::Equal
        })
    });
    match problem {
        Some(problem) => Err(Failure::other(problem)),
        None => Ok(items),
    }
}
