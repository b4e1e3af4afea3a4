use super::Type;
impl Type {
    /// Whether every instance of `other` is an instance of this type.
    pub fn is_assignable(&self, _other: &Self) -> bool {
        false
    }
    pub fn is_kind_of_callable(&self) -> bool {
        false
    }
    pub fn is_iterable(&self) -> bool {
        false
    }
}
