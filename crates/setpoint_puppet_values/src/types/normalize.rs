use super::Type;
impl Type {
    /// The simplest form of the type.
    pub fn normalize(&self) -> Self {
        self.clone()
    }
    /// The type without what distinguishes single values.
    pub fn generalize(&self) -> Self {
        self.clone()
    }
}
