//! Object types, type sets and annotations: what Puppet notices, or why it refuses.

use std::path::PathBuf;

use setpoint_puppet::{Entry, Environment, Options, compile};
use setpoint_source::{MemoryFileSystem, Sources};

/// What a manifest notices; the error, if there is one, is the last.
fn notices(manifest: &str) -> Vec<String> {
    let mut files = MemoryFileSystem::new();
    files.add("main.pp", manifest);
    let sources = Sources::new();
    let environment = Environment::new(&files, &sources);
    let compilation =
        compile(&environment, &Entry::Files(vec![PathBuf::from("main.pp")]), &Options::default());
    let mut said: Vec<String> = compilation.log.into_iter().map(|entry| entry.message).collect();
    if compilation.catalog.is_none() {
        said.extend(compilation.diagnostics.into_iter().map(|found| found.message).take(1));
    }
    said
}

const CARS: &str = "
type Vehicle = Object[{ attributes => { wheels => Integer, made => { type => Integer, value => 2000 } } }]
type Car = Object[{ parent => Vehicle, attributes => {
  name => String, kind => { type => String, kind => constant, value => 'car' },
}, equality => [] }]
";

#[test]
fn attributes_of_the_parent_come_first() {
    let code = "
$car = Car(4, 'beetle', 1938)
notice($car)
notice($car.wheels)
notice($car.kind)
notice(Car({ wheels => 3, name => 'isetta' }))
notice($car =~ Vehicle, Car < Vehicle, Vehicle < Car)
notice(Car(4, 'a') == Car(4, 'b'), Vehicle(1) == Vehicle(2))
";
    assert_eq!(
        notices(&format!("{CARS}{code}")),
        [
            "Car({'wheels' => 4, 'made' => 1938, 'name' => 'beetle'})",
            "4",
            "car",
            "Car({'wheels' => 3, 'name' => 'isetta'})",
            "true true false",
            "true false",
        ]
    );
}

#[test]
fn types_are_printed_with_their_names() {
    assert_eq!(
        notices(&format!("{CARS}notice(Car)")),
        ["Object[{name => 'Car', parent => Vehicle, attributes => {'name' => String}, \
          constants => {'kind' => 'car'}, equality => []}]"]
    );
}

#[test]
fn definitions_that_contradict_each_other_are_refused() {
    let refused = [
        ("type A = Object[{ parent => B }] type B = Object[{ parent => A }]", "inherits from itself"),
        (
            "type B = Object[{ attributes => { a => { type => Integer, final => true } } }] \
             type A = Object[{ parent => B, attributes => { a => { type => Integer, override => true } } }]",
            "attribute A[a] attempts to override final attribute B[a]",
        ),
        (
            "type B = Object[{ attributes => { a => Integer } }] \
             type A = Object[{ parent => B, attributes => { a => Integer } }]",
            "attribute A[a] attempts to override attribute B[a] without having override => true",
        ),
        (
            "type A = Object[{ attributes => { a => { type => Integer, override => true } } }]",
            "expected attribute A[a] to override an inherited attribute, but no such attribute was found",
        ),
        (
            "type A = Object[{ attributes => { a => { type => Integer, kind => constant } } }]",
            "attribute A[a] of kind 'constant' requires a value",
        ),
        ("type A = Object[{ equality => b }]", "A equality is referencing non existent attribute 'b'"),
        (
            "type A = Object[{ attribute => {} }]",
            "object initializer has wrong type, unrecognized key 'attribute'",
        ),
        ("type A = Enum[$facts]", "The expression <$facts> is not a valid type specification."),
    ];
    for (definition, expected) in refused {
        let said = notices(&format!("{definition} notice(A)"));
        assert!(said.len() == 1 && said[0].contains(expected), "{definition}: {said:?}");
    }
}

#[test]
fn type_parameters_narrow() {
    let code = "
type Box = Object[{ type_parameters => { color => Variant[String, Type[Enum]] }, attributes => { color => String } }]
notice(Box['red'])
notice(Box('red') =~ Box['red'], Box('red') =~ Box['blue'], Box('red') =~ Box[Enum[red, blue]])
notice(Box['red'] < Box, Box['red'] < Box[Enum[red, blue]], Box['red'] == Box[color => 'red'])
notice(type(Box('red')))
notice(Error['a'], Error(msg => 'x', kind => 'a') =~ Error['a'])
";
    assert_eq!(
        notices(code),
        ["Box['red']", "true false true", "true true true", "Box['red']", "Error['a'] true"]
    );
}

#[test]
fn sets_define_types_that_name_each_other() {
    // As in Puppet, the types of a set are known once the set is.
    let code = "
type Cars = TypeSet[{ pcore_version => '1.0.0', version => '1.2.0', types => {
  Wheel => { attributes => { size => Integer } },
  Car => Wheel { attributes => { wheel => Optional[Wheel] } },
} }]
type Fleet = TypeSet[{ pcore_version => '1.0.0', types => { Bus => C::Car { attributes => { seats => Integer } } },
  references => { C => { name => 'Cars', version_range => '1.x' } } }]
notice(Cars =~ Type[TypeSet], Fleet =~ Type[TypeSet])
notice(Cars::Car(1, Cars::Wheel(2)))
notice(Cars::Car < Cars::Wheel)
notice(Fleet::Bus(1, 40))
";
    assert_eq!(
        notices(code),
        [
            "true true",
            "Cars::Car({'size' => 1, 'wheel' => Cars::Wheel({'size' => 2})})",
            "true",
            "Fleet::Bus({'size' => 1, 'seats' => 40})",
        ]
    );
}

#[test]
fn annotations_are_attached_to_values() {
    let code = "
type Note = Object[{ parent => Annotation, attributes => { text => String[1] } }]
type Thing = Object[{}]
type Noted = Object[{ annotations => { Note => { 'text' => 'declared' } } }]
$a = Thing()
$b = Thing()
Note.annotate($a, { 'text' => 'one' })
notice(Note.annotate($a).text, Note.annotate($b) == undef)
notice(Note.annotate($b) || { { 'text' => 'two' } }.text)
notice(Note.annotate(Noted).text)
Note.annotate($a, clear)
notice(Note.annotate($a) == undef)
";
    assert_eq!(notices(code), ["one true", "two", "declared", "true"]);
}

#[test]
fn break_in_a_function_ends_the_iteration_that_called_it() {
    let code = "
function until_two($x) { if $x == 2 { break() } else { $x * 100 } }
notice([1, 2, 3].map |$x| { until_two($x) })
[$a, [$b, $c]] = { a => 1, [b, c] => { b => 2, c => 3 } }
notice($a + $b + $c)
";
    assert_eq!(notices(code), ["[100]", "6"]);
}
