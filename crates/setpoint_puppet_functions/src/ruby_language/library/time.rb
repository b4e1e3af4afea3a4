# Time and Date: instants and days that the code itself names. What the clock or the zone of a machine says is not known.
module Calendar
  MONTHS = %w[January February March April May June July August September October November December].freeze
  DAYS = %w[Sunday Monday Tuesday Wednesday Thursday Friday Saturday].freeze

  # Days since 1970-01-01 of a date of the Gregorian calendar.
  def self.days(year, month, day)
    year -= 1 if month <= 2
    era = year.div(400)
    of_era = year - era * 400
    of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2).div(5) + day - 1
    era * 146_097 + of_era * 365 + of_era.div(4) - of_era.div(100) + of_year - 719_468
  end

  def self.civil(days)
    days += 719_468
    era = days.div(146_097)
    of_era = days - era * 146_097
    year = (of_era - of_era.div(1460) + of_era.div(36_524) - of_era.div(146_096)).div(365)
    of_year = of_era - (365 * year + year.div(4) - year.div(100))
    at = (5 * of_year + 2).div(153)
    month = at + (at < 10 ? 3 : -9)
    [year + era * 400 + (month <= 2 ? 1 : 0), month, of_year - (153 * at + 2).div(5) + 1]
  end

  def self.month_number(text)
    return text.to_i if text.to_s =~ /\A\d+\z/
    at = MONTHS.index { |name| name[0, 3].downcase == text.to_s[0, 3].downcase }
    raise ArgumentError, 'argument out of range' if at.nil?
    at + 1
  end

  def self.valid?(year, month, day)
    month.between?(1, 12) && day >= 1 && civil(days(year, month, day)) == [year, month, day]
  end

  FORMAT = /%([-0^#_]*)(\d*)([A-Za-z%+]|:z)/

  def self.format(time, format)
    format.gsub(FORMAT) do
      flags, width, directive = $1, $2, $3
      pad = nil
      text = case directive
             when 'Y' then time.year.to_s
             when 'C' then pad = 2; (time.year / 100).to_s
             when 'y' then pad = 2; (time.year % 100).to_s
             when 'm' then pad = 2; time.month.to_s
             when 'd' then pad = 2; time.day.to_s
             when 'e' then next blank(time.day, flags)
             when 'j' then pad = 3; time.yday.to_s
             when 'H' then pad = 2; time.hour.to_s
             when 'k' then next blank(time.hour, flags)
             when 'I' then pad = 2; ((time.hour + 11) % 12 + 1).to_s
             when 'l' then next blank((time.hour + 11) % 12 + 1, flags)
             when 'M' then pad = 2; time.min.to_s
             when 'S' then pad = 2; time.sec.to_s
             when 'L' then time.nsec.to_s.rjust(9, '0')[0, width.empty? ? 3 : width.to_i]
             when 'N' then time.nsec.to_s.rjust(9, '0')[0, width.empty? ? 9 : width.to_i]
             when 's' then time.to_i.to_s
             when 'p' then time.hour < 12 ? 'AM' : 'PM'
             when 'P' then time.hour < 12 ? 'am' : 'pm'
             when 'a' then DAYS[time.wday][0, 3]
             when 'A' then DAYS[time.wday]
             when 'b', 'h' then MONTHS[time.month - 1][0, 3]
             when 'B' then MONTHS[time.month - 1]
             when 'u' then (time.wday.zero? ? 7 : time.wday).to_s
             when 'w' then time.wday.to_s
             when 'F' then format(time, '%Y-%m-%d')
             when 'T', 'X' then format(time, '%H:%M:%S')
             when 'D', 'x' then format(time, '%m/%d/%y')
             when 'R' then format(time, '%H:%M')
             when 'r' then format(time, '%I:%M:%S %p')
             when 'c' then format(time, '%a %b %e %H:%M:%S %Y')
             when 'z' then '+0000'
             when ':z' then '+00:00'
             when 'Z' then time.zone
             when 'n' then "\n"
             when 't' then "\t"
             when '%' then '%'
             else __beyond__("it formats a time by %#{directive}")
             end
      __beyond__('it formats a time to a width') unless width.empty? || %w[L N].include?(directive)
      text = text.rjust(pad, '0') if pad && !flags.include?('-')
      text = text.upcase if flags.include?('^')
      text
    end
  end

  def self.blank(number, flags)
    flags.include?('-') ? number.to_s : number.to_s.rjust(2, flags.include?('0') ? '0' : ' ')
  end
end

class Time
  include Comparable

  def self.now(*)
    __beyond__('it asks for the time')
  end

  def self.new(*arguments)
    arguments.empty? ? now : __beyond__('it asks for the zone of the machine')
  end

  def self.local(*)
    __beyond__('it asks for the zone of the machine')
  end

  def self.mktime(*)
    local
  end

  def self.instant(seconds, nsec, is_utc)
    made = allocate
    made.send(:set, seconds, nsec, is_utc)
    made
  end

  def self.at(seconds, *more)
    __beyond__('it asks for a part of a second') unless more.empty?
    return instant(seconds.to_i, seconds.nsec, false) if seconds.is_a?(Time)
    whole = seconds.floor
    instant(whole, ((seconds - whole) * 1_000_000_000).round, false)
  end

  def self.utc(year, month = 1, day = 1, hour = 0, min = 0, sec = 0)
    days = Calendar.days(year.to_i, Calendar.month_number(month || 1), (day || 1).to_i)
    instant(days * 86_400 + (hour || 0).to_i * 3600 + (min || 0).to_i * 60 + (sec || 0).to_i, 0, true)
  end

  def self.gm(*arguments)
    utc(*arguments)
  end

  def self.parse(text, *)
    found = /\A\s*(\d{4})-(\d\d?)-(\d\d?)(?:[T\s]+(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?\s*(Z|UTC|GMT|[-+]\d\d:?\d\d)?\s*\z/i.match(text)
    __beyond__('it reads a time of an unusual form') if found.nil?
    __beyond__('it asks for the zone of the machine') if found[8].nil?
    raise ArgumentError, 'argument out of range' unless Calendar.valid?(found[1].to_i, found[2].to_i, found[3].to_i)
    is_utc = found[8] !~ /\d/
    shift = is_utc ? 0 : (found[8][0] == '-' ? -1 : 1) * (found[8][1, 2].to_i * 3600 + found[8][-2, 2].to_i * 60)
    made = utc(found[1], found[2], found[3], found[4], found[5], found[6])
    instant(made.to_i - shift, (found[7] || '').ljust(9, '0')[0, 9].to_i, is_utc)
  end

  def self.iso8601(text)
    parse(text)
  end

  def self.strptime(*)
    __beyond__('it reads a time by a format')
  end

  def set(seconds, nsec, is_utc)
    @seconds = seconds
    @nsec = nsec
    @is_utc = is_utc
  end

  def utc
    @is_utc = true
    self
  end

  def gmtime
    utc
  end

  def getutc
    Time.instant(@seconds, @nsec, true)
  end

  def getgm
    getutc
  end

  def utc?
    @is_utc
  end

  def zone
    parts
    'UTC'
  end

  def utc_offset
    parts
    0
  end

  def parts
    __beyond__('it asks for the zone of the machine') unless @is_utc
    @seconds
  end

  def date
    Calendar.civil(parts.div(86_400))
  end

  def year
    date[0]
  end

  def month
    date[1]
  end

  def mon
    date[1]
  end

  def day
    date[2]
  end

  def mday
    date[2]
  end

  def hour
    parts % 86_400 / 3600
  end

  def min
    parts % 3600 / 60
  end

  def sec
    parts % 60
  end

  def nsec
    @nsec
  end

  def usec
    @nsec / 1000
  end

  def wday
    (parts.div(86_400) + 4) % 7
  end

  def yday
    parts.div(86_400) - Calendar.days(year, 1, 1) + 1
  end

  Calendar::DAYS.each_with_index do |name, at|
    define_method("#{name.downcase}?") { wday == at }
  end

  def to_i
    @seconds
  end

  def tv_sec
    @seconds
  end

  def to_f
    @seconds + @nsec / 1_000_000_000.0
  end

  def +(other)
    shifted(other)
  end

  def -(other)
    return to_f - other.to_f if other.is_a?(Time)
    shifted(-other)
  end

  def shifted(by)
    nanoseconds = @seconds * 1_000_000_000 + @nsec + (by.is_a?(Integer) ? by * 1_000_000_000 : (by * 1_000_000_000).round)
    Time.instant(nanoseconds.div(1_000_000_000), nanoseconds % 1_000_000_000, @is_utc)
  end

  def <=>(other)
    other.is_a?(Time) ? [@seconds, @nsec] <=> [other.to_i, other.nsec] : nil
  end

  def eql?(other)
    other.is_a?(Time) && (self <=> other).zero?
  end

  def hash
    [@seconds, @nsec].hash
  end

  def strftime(format)
    parts
    Calendar.format(self, format)
  end

  def iso8601(digits = 0)
    digits.zero? ? strftime('%Y-%m-%dT%H:%M:%SZ') : strftime("%Y-%m-%dT%H:%M:%S.%#{digits}NZ")
  end

  def xmlschema(digits = 0)
    iso8601(digits)
  end

  def httpdate
    strftime('%a, %d %b %Y %H:%M:%S GMT')
  end

  def to_s
    strftime('%Y-%m-%d %H:%M:%S UTC')
  end

  def inspect
    __beyond__('it writes a part of a second') unless @nsec.zero?
    to_s
  end
end

class Date
  include Comparable
  MONTHNAMES = ([nil] + Calendar::MONTHS).freeze
  DAYNAMES = Calendar::DAYS
  ABBR_MONTHNAMES = ([nil] + Calendar::MONTHS.map { |name| name[0, 3] }).freeze
  ABBR_DAYNAMES = Calendar::DAYS.map { |name| name[0, 3] }.freeze

  def self.today(*)
    __beyond__('it asks for the time')
  end

  def self.valid_date?(year, month, day)
    Calendar.valid?(year, month, day)
  end

  def self.of(days)
    new(*Calendar.civil(days))
  end

  def self.parse(text, *)
    found = /\A\s*(\d{4})-(\d\d?)-(\d\d?)\s*\z/.match(text) || /\A\s*(\d{4})(\d\d)(\d\d)\s*\z/.match(text)
    __beyond__('it reads a date of an unusual form') if found.nil?
    new(found[1].to_i, found[2].to_i, found[3].to_i)
  end

  def self.iso8601(text)
    parse(text)
  end

  def self.strptime(*)
    __beyond__('it reads a date by a format')
  end

  def initialize(year = -4712, month = 1, day = 1)
    __beyond__('it counts from the end of a month') if month.negative? || day.negative?
    raise ArgumentError, 'invalid date' unless Calendar.valid?(year, month, day)
    @days = Calendar.days(year, month, day)
  end

  def days
    @days
  end

  def year
    Calendar.civil(@days)[0]
  end

  def month
    Calendar.civil(@days)[1]
  end

  def mon
    month
  end

  def day
    Calendar.civil(@days)[2]
  end

  def mday
    day
  end

  def wday
    (@days + 4) % 7
  end

  def yday
    @days - Calendar.days(year, 1, 1) + 1
  end

  def hour
    0
  end

  def min
    0
  end

  def sec
    0
  end

  def nsec
    0
  end

  def to_i
    __beyond__('it makes a number of a date')
  end

  def zone
    '+00:00'
  end

  def +(other)
    __beyond__('it adds a part of a day') unless other.is_a?(Integer)
    Date.of(@days + other)
  end

  def -(other)
    __beyond__('it makes a fraction') if other.is_a?(Date)
    self + -other
  end

  def >>(months)
    at = year * 12 + month - 1 + months
    last = day
    last -= 1 until Calendar.valid?(at.div(12), at % 12 + 1, last)
    Date.new(at.div(12), at % 12 + 1, last)
  end

  def <<(months)
    self >> -months
  end

  def next_day(count = 1)
    self + count
  end

  def prev_day(count = 1)
    self + -count
  end

  def next_month(count = 1)
    self >> count
  end

  def prev_month(count = 1)
    self << count
  end

  def next
    self + 1
  end

  def succ
    self + 1
  end

  def <=>(other)
    other.is_a?(Date) ? @days <=> other.days : nil
  end

  def eql?(other)
    other.is_a?(Date) && other.days == @days
  end

  def hash
    @days.hash
  end

  def strftime(format = '%F')
    Calendar.format(self, format)
  end

  def to_s
    strftime('%Y-%m-%d')
  end

  def iso8601
    to_s
  end

  def to_date
    self
  end
end
