//! A list with cheap copies: a trie of blocks, shared until one of the copies changes.

use std::rc::Rc;

const BITS: u32 = 5;
const WIDTH: usize = 1 << BITS;

#[derive(Clone, Debug)]
enum Block<T> {
    Leaf(Vec<T>),
    Branch(Vec<Rc<Block<T>>>),
}

/// Reading and changing an element cost O(log n), and so does changing a list that shares its blocks with others.
#[derive(Clone, Debug)]
pub(super) struct List<T> {
    root: Rc<Block<T>>,
    length: usize,
    /// The bits of an index below those that choose a child of the root.
    shift: u32,
}

impl<T: Clone> List<T> {
    pub(super) fn new() -> Self {
        Self { root: Rc::new(Block::Leaf(Vec::new())), length: 0, shift: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        let mut block = &*self.root;
        let mut shift = self.shift;
        loop {
            match block {
                Block::Leaf(items) => return items.get(index & (WIDTH - 1)).filter(|_| index < self.length),
                Block::Branch(children) => {
                    block = children.get(index >> shift & (WIDTH - 1))?;
                    shift -= BITS;
                }
            }
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.length {
            return None;
        }
        let mut block = Rc::make_mut(&mut self.root);
        let mut shift = self.shift;
        loop {
            match block {
                Block::Leaf(items) => return items.get_mut(index & (WIDTH - 1)),
                Block::Branch(children) => {
                    block = Rc::make_mut(children.get_mut(index >> shift & (WIDTH - 1))?);
                    shift -= BITS;
                }
            }
        }
    }

    pub(super) fn push(&mut self, item: T) {
        if self.length == WIDTH << self.shift {
            let old = std::mem::replace(&mut self.root, Rc::new(Block::Leaf(Vec::new())));
            self.root = Rc::new(Block::Branch(vec![old]));
            self.shift += BITS;
        }
        let index = self.length;
        self.length += 1;
        let mut block = Rc::make_mut(&mut self.root);
        let mut shift = self.shift;
        loop {
            match block {
                Block::Leaf(items) => {
                    items.push(item);
                    return;
                }
                Block::Branch(children) => {
                    let child = index >> shift & (WIDTH - 1);
                    shift -= BITS;
                    if child == children.len() {
                        let empty =
                            if shift == 0 { Block::Leaf(Vec::new()) } else { Block::Branch(Vec::new()) };
                        children.push(Rc::new(empty));
                    }
                    // The child exists: indices are pushed in order.
                    block = Rc::make_mut(&mut children[child]);
                }
            }
        }
    }

    pub(super) fn iter(&self) -> Iter<'_, T> {
        Iter { stack: vec![(&self.root, 0)] }
    }
}

#[derive(Debug)]
pub(super) struct Iter<'l, T> {
    /// The blocks from the root to the next element, with the next position in each.
    stack: Vec<(&'l Block<T>, usize)>,
}

impl<'l, T> Iterator for Iter<'l, T> {
    type Item = &'l T;

    fn next(&mut self) -> Option<&'l T> {
        loop {
            let (block, next) = self.stack.last_mut()?;
            let at = *next;
            *next += 1;
            match block {
                Block::Leaf(items) => match items.get(at) {
                    Some(item) => return Some(item),
                    None => self.stack.pop(),
                },
                Block::Branch(children) => match children.get(at) {
                    Some(child) => {
                        self.stack.push((child, 0));
                        continue;
                    }
                    None => self.stack.pop(),
                },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_do_not_see_each_others_changes() {
        let mut list = List::new();
        for number in 0..5_000 {
            list.push(number);
        }
        let before = list.clone();
        for number in (0..5_000).step_by(7) {
            *list.get_mut(number).unwrap() += 1;
        }
        list.push(5_000);
        assert!(before.iter().copied().eq(0..5_000));
        assert!(list.iter().copied().eq((0..5_001).map(|n| if n % 7 == 0 && n < 5_000 { n + 1 } else { n })));
        assert_eq!(before.get(5_000), None);
        assert_eq!(list.get(4_999), Some(&4_999));
    }
}
