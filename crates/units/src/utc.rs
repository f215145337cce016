//! Dates of records, from the wall clock; never used to measure.

/// A date and time in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// For example 2026.
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
    /// 0 to 23.
    pub hour: u64,
    /// 0 to 59.
    pub minute: u64,
    /// 0 to 59.
    pub second: u64,
}

impl Utc {
    /// The date and time `unix_ms` milliseconds after the Unix epoch, without leap seconds.
    ///
    /// Source: H. Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`: years
    /// start in March, so that the leap day is the last day of a year.
    pub const fn from_unix_ms(unix_ms: u64) -> Utc {
        let seconds = unix_ms / 1000;
        let days = seconds / 86_400 + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Utc {
            year: year_of_era + era * 400 + (month <= 2) as u64,
            month,
            day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: seconds / 3600 % 24,
            minute: seconds / 60 % 60,
            second: seconds % 60,
        }
    }

    /// `2026-11-21`.
    pub fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// `06:15:33`.
    pub fn time(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        for (unix_s, date, time) in [
            (0, "1970-01-01", "00:00:00"),
            (951_782_400, "2000-02-29", "00:00:00"),
            (1_709_251_199, "2024-02-29", "23:59:59"),
            (1_709_251_200, "2024-03-01", "00:00:00"),
            (1_795_241_700, "2026-11-21", "06:15:00"),
            (4_102_444_799, "2099-12-31", "23:59:59"),
        ] {
            let utc = Utc::from_unix_ms(unix_s * 1000 + 999);
            assert_eq!((utc.date().as_str(), utc.time().as_str()), (date, time));
        }
    }
}
