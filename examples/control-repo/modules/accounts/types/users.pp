# People by the name that they log in with.
type Accounts::Users = Hash[Pattern[/\A[a-z][a-z0-9]*\z/], Struct[{
  uid               => Integer[1000],
  Optional[comment] => String,
  Optional[groups]  => Array[String[1]],
  key               => String[1],
}]]
