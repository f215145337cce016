//! Paths of names: different for different names, and read back.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use workload::names::{Name, NameClass, NameSize, NameSpread, NameTree, TreeShape};

use crate::randomness::statistics::{assert_plausible, chi_square};

const CLASSES: [NameClass; 7] = [
    NameClass::File,
    NameClass::Original,
    NameClass::Moved,
    NameClass::Link,
    NameClass::Symlink,
    NameClass::Made,
    NameClass::Missing,
];

fn shape(files: u64, depth: u32, width: u32, directories: u64, spread: NameSpread) -> TreeShape {
    let name_length = NameTree::name_length_min(files + 50);
    let sizes = NameSize::constant(0);
    TreeShape { files, depth, width, directories, name_length, spread, sizes }
}

fn path(tree: &NameTree, name: Name) -> String {
    let mut path = String::new();
    tree.push_path(name, &mut path);
    path
}

proptest! {
    #[test]
    fn every_name_has_a_separate_path_of_the_stated_length(
        (depth, width) in prop_oneof![Just((0, 1)), (1..4u32, 1..9u32)],
        files in 1..2000u64,
        spread in prop::sample::select(&NameSpread::ALL[..]),
        part in 0.0..1.0f64,
    ) {
        let directories = ((f64::from(width.pow(depth)) * part) as u64).max(1);
        let shape = shape(files, depth, width, directories, spread);
        let tree = NameTree::new(&shape);
        let mut paths = HashSet::new();
        for class in CLASSES {
            // Numbers beyond the files are those of names that are added.
            for number in 0..files + 50 {
                let name = Name { class, number };
                let path = path(&tree, name);
                let leaf = path.rsplit('/').next().expect("a path has a leaf");
                prop_assert_eq!(path.matches('/').count() as u32, depth);
                prop_assert_eq!(leaf.len() as u32, shape.name_length);
                prop_assert_eq!(tree.parse(leaf.as_bytes()), Some(name));
                prop_assert!(tree.directory(name) < directories);
                prop_assert!(paths.insert(path));
            }
        }
        for number in 0..directories {
            let name = Name::directory(number);
            prop_assert!(paths.insert(path(&tree, name)), "{:?}", name);
        }
    }

    #[test]
    fn text_that_is_no_leaf_is_of_no_name(text in "[a-zA-Z0-9._-]{0,12}") {
        let tree = NameTree::new(&TreeShape { name_length: 8, ..shape(100, 1, 3, 3, NameSpread::Fill) });
        match tree.parse(text.as_bytes()) {
            Some(name) => prop_assert_eq!(tree.leaf(name).as_str().to_owned(), text),
            None => {
                let letters = ['f', 'o', 'm', 'l', 's', 'd', 'x'];
                let is_leaf = text.len() == 8
                    && text.starts_with(letters)
                    && text.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase());
                prop_assert!(!is_leaf, "{}", text);
            }
        }
    }
}

#[test]
fn paths_are_as_documented() {
    let tree = NameTree::new(&TreeShape {
        name_length: 12,
        ..shape(1_000_000, 2, 100, 10_000, NameSpread::RoundRobin)
    });
    let of = |class, number| path(&tree, Name { class, number });
    assert_eq!(of(NameClass::File, 42), "t00/t42/f00000000016");
    assert_eq!(of(NameClass::Missing, 999_999), "t99/t99/x0000000lflr");
    assert_eq!(path(&tree, Name::directory(1234)), "t12/t34");
    let mut upper = String::new();
    tree.push_directory_path(1, 12, &mut upper);
    assert_eq!(upper, "t12");
    let flat = NameTree::new(&TreeShape { name_length: 3, ..shape(10, 0, 1, 1, NameSpread::Fill) });
    assert_eq!(path(&flat, Name { class: NameClass::Link, number: 35 }), "l0z");
    assert_eq!(path(&flat, Name::directory(0)), "");
}

#[test]
fn directories_of_a_level_contain_all_of_the_next_one() {
    let tree = NameTree::new(&shape(100, 3, 4, 50, NameSpread::Fill));
    assert_eq!([1, 2, 3].map(|level| tree.directories_of_level(level)), [4, 13, 50]);
    assert_eq!(tree.directories_total(), 67);
    let of = |level: u32, number| {
        let mut path = String::new();
        tree.push_directory_path(level, number, &mut path);
        path
    };
    let above: HashSet<String> = (0..13).map(|number| of(2, number)).collect();
    for number in 0..50 {
        let path = of(3, number);
        let (parent, _) = path.rsplit_once('/').expect("three levels");
        assert!(above.contains(parent), "{path}");
    }
}

#[test]
fn fill_and_round_robin_are_even_and_random_is_random() {
    let count = |spread| {
        let tree = NameTree::new(&shape(10_000, 2, 7, 49, spread));
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for number in 0..10_000 {
            *counts.entry(tree.directory(Name { class: NameClass::File, number })).or_default() +=
                1;
        }
        counts.into_values().collect::<Vec<u64>>()
    };
    for spread in [NameSpread::Fill, NameSpread::RoundRobin] {
        let counts = count(spread);
        assert_eq!(counts.len(), 49);
        assert!(counts.iter().all(|count| [204, 205].contains(count)), "{counts:?}");
    }
    let random = count(NameSpread::Random);
    assert!(random.iter().any(|count| ![204, 205].contains(count)));
    assert_plausible(chi_square(&random, &[1.0 / 49.0; 49]), "directories of a random spread");
}

#[test]
fn the_shortest_names_have_a_digit_for_each_power_of_36() {
    for (names, length) in [(1, 2), (36, 2), (37, 3), (1296, 3), (1297, 4), (10_000_000, 6)] {
        assert_eq!(NameTree::name_length_min(names), length, "{names}");
    }
}
