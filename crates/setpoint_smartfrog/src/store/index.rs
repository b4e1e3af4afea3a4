//! From a name to its position: a hash trie with cheap copies.

use std::rc::Rc;

use setpoint_source::Symbol;

const BITS: u32 = 5;

#[derive(Clone, Debug)]
enum Slot {
    Leaf(u64, u32),
    Branch(Rc<Index>),
}

/// Names are interned, so that an address is a name, and a hash without collisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    present: u32,
    slots: Vec<Slot>,
}

fn hash(name: Symbol) -> u64 {
    // Names lie in memory in the order of their first use, a few bytes each. The bits that tell blocks of names apart come
    // first, so that neighbours share their branches, which are in the cache.
    let address = name.as_str().as_ptr() as usize as u64;
    let low = address & 0xf_ffff;
    let groups = [low >> 15, low >> 10 & 31, low >> 5 & 31, low & 31];
    groups.iter().rev().fold(address >> 20, |hash, group| hash << BITS | group)
}

impl Index {
    pub(super) fn get(&self, name: Symbol) -> Option<u32> {
        let hash = hash(name);
        let mut node = self;
        let mut shift = 0;
        loop {
            let bit = 1 << (hash >> shift & 31);
            if node.present & bit == 0 {
                return None;
            }
            match node.slots.get((node.present & (bit - 1)).count_ones() as usize)? {
                Slot::Leaf(key, value) => return (*key == hash).then_some(*value),
                Slot::Branch(child) => node = child,
            }
            shift += BITS;
        }
    }

    pub(super) fn insert(&mut self, name: Symbol, value: u32) {
        self.insert_at(hash(name), value, 0);
    }

    fn insert_at(&mut self, hash: u64, value: u32, shift: u32) {
        let bit = 1 << (hash >> shift & 31);
        let at = (self.present & (bit - 1)).count_ones() as usize;
        if self.present & bit == 0 {
            self.present |= bit;
            self.slots.insert(at, Slot::Leaf(hash, value));
            return;
        }
        match &mut self.slots[at] {
            Slot::Leaf(key, old) if *key == hash => *old = value,
            Slot::Leaf(key, old) => {
                // Different hashes differ within 64 bits, so this ends.
                let mut child = Self::default();
                child.insert_at(*key, *old, shift + BITS);
                child.insert_at(hash, value, shift + BITS);
                self.slots[at] = Slot::Branch(Rc::new(child));
            }
            Slot::Branch(child) => Rc::make_mut(child).insert_at(hash, value, shift + BITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        let name = |number: usize| Symbol::new(&format!("index-{number}"));
        let mut index = Index::default();
        for number in 0..10_000 {
            index.insert(name(number), number as u32);
        }
        let copy = index.clone();
        index.insert(name(77), 1);
        assert_eq!(index.get(name(77)), Some(1));
        assert!((0..10_000).all(|number| copy.get(name(number)) == Some(number as u32)));
        assert_eq!(copy.get(name(10_000)), None);
    }
}
