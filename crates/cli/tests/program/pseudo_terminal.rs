//! Starts the binary on a pseudo terminal, and follows what a user would see on it.
//!
//! The display knows the control sequences that the program uses and panics on any other one: no
//! sequence hides the cursor or changes the terminal in another way that the end would have to undo.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::harness::TestDir;

/// Longer than any of these tests takes on a slow, busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Output of a stopped program is complete if nothing follows for this long.
const QUIET: Duration = Duration::from_millis(50);

/// A program on a pseudo terminal.
pub(crate) struct PseudoTerminal {
    /// The end at which the terminal would be.
    control: File,
    child: Child,
    /// The beginning of a character whose rest has not arrived.
    undecoded: Vec<u8>,
    pub(crate) display: Display,
    deadline: Instant,
}

impl PseudoTerminal {
    /// Starts the binary in a session of which this is the controlling terminal.
    pub(crate) fn start(
        dir: &mut TestDir,
        arguments: &[&str],
        [columns, rows]: [usize; 2],
        variables: &[(&str, &str)],
    ) -> PseudoTerminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let control = openpt(flags).expect("open a pseudo terminal");
        unlockpt(&control).expect("unlock it");
        tcsetwinsize(&control, size(columns, rows)).expect("set its size");
        let user = || {
            let end = ioctl_tiocgptpeer(&control, flags).expect("open the program's end");
            Stdio::from(end)
        };
        let mut session = Command::new("setsid");
        session.args(["--ctty", "env", "--default-signal=INT", env!("CARGO_BIN_EXE_fourcorners")]);
        dir.enter(session);
        let mut command = dir.command(arguments);
        command.env_remove("COLUMNS").env("TERM", "xterm-256color");
        command.envs(variables.iter().copied());
        let child = command.stdin(user()).stdout(user()).stderr(user()).spawn();
        PseudoTerminal {
            control: File::from(control),
            child: child.expect("start the program"),
            undecoded: Vec::new(),
            display: Display::new(columns, rows),
            deadline: Instant::now() + TIMEOUT,
        }
    }

    /// Waits until the display is as `is_it` wants it; it is called after each change.
    pub(crate) fn wait_until(&mut self, mut is_it: impl FnMut(&Display) -> bool) {
        while !is_it(&self.display) {
            let rest = self.deadline.saturating_duration_since(Instant::now());
            let read = self.read(rest);
            assert!(read, "the program ended or stalled:\n{}", self.display.all());
        }
    }

    /// Gives the terminal another size between two outputs of the program, which is stopped
    /// meanwhile.
    pub(crate) fn resize(&mut self, columns: usize, rows: usize) {
        let id = Pid::from_child(&self.child);
        kill_process(id, Signal::STOP).expect("stop the program");
        let stopped = WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(id), stopped).expect("wait until it is stopped");
        while self.read(QUIET) {}
        tcsetwinsize(&self.control, size(columns, rows)).expect("set the size");
        self.display.resize(columns, rows);
        kill_process(id, Signal::CONT).expect("continue the program");
    }

    /// Types on the keyboard.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.control.write_all(text.as_bytes()).expect("type on the terminal");
    }

    /// Waits for the program's end; returns its exit code and what is on the display then.
    pub(crate) fn end(mut self) -> (Option<i32>, Display) {
        while self.read(self.deadline.saturating_duration_since(Instant::now())) {}
        if Instant::now() >= self.deadline {
            let _ = self.child.kill();
        }
        let code = self.child.wait().expect("wait for the program").code();
        (code, std::mem::replace(&mut self.display, Display::new(80, 24)))
    }

    /// Reads what arrives within `timeout`; `false` if nothing did, or the program ended.
    fn read(&mut self, timeout: Duration) -> bool {
        let timeout = Timespec::try_from(timeout).expect("it is short");
        let mut ready = [PollFd::new(&self.control, PollFlags::IN)];
        if poll(&mut ready, Some(&timeout)).expect("wait for output") == 0 {
            return false;
        }
        let mut buffer = [0; 4096];
        let length = match self.control.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => return true,
            // EIO: every process has closed the terminal.
            Err(_) => return false,
        };
        self.undecoded.extend(&buffer[..length]);
        let decoded = match std::str::from_utf8(&self.undecoded) {
            Ok(_) => self.undecoded.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.undecoded.split_off(decoded);
        let text = std::mem::replace(&mut self.undecoded, rest);
        self.display.take(&String::from_utf8(text).expect("this part is decoded"));
        length > 0
    }
}

impl Drop for PseudoTerminal {
    fn drop(&mut self) {
        // No effect after `end`; after a failed assertion it ends the child.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: usize, rows: usize) -> Winsize {
    let [ws_col, ws_row] = [columns, rows].map(|length| length as u16);
    Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }
}

/// What a terminal displays. Like most terminals it breaks lines again when its width changes.
pub(crate) struct Display {
    columns: usize,
    rows: usize,
    /// All rows since the start.
    lines: Vec<Row>,
    /// The first row that is visible.
    top: usize,
    /// The cursor.
    row: usize,
    column: usize,
    /// The control sequence that has not ended yet.
    sequence: String,
    /// How often the cursor was moved up.
    pub(crate) redraws: usize,
    /// How often a colour or an emphasis was set.
    pub(crate) emphases: usize,
}

#[derive(Clone, Default)]
struct Row {
    text: Vec<char>,
    /// The next row is the rest of the same line.
    continues: bool,
}

impl Display {
    fn new(columns: usize, rows: usize) -> Display {
        Display {
            columns,
            rows,
            lines: vec![Row::default()],
            top: 0,
            row: 0,
            column: 0,
            sequence: String::new(),
            redraws: 0,
            emphases: 0,
        }
    }

    /// The rows on the display.
    pub(crate) fn visible(&self) -> Vec<String> {
        let text = |row: &Row| row.text.iter().collect::<String>().trim_end().to_owned();
        self.lines[self.top..].iter().map(text).collect()
    }

    /// Everything since the start.
    pub(crate) fn all(&self) -> String {
        let mut all = String::new();
        for row in &self.lines {
            all.extend(&row.text);
            all.push_str(if row.continues { "" } else { "\n" });
        }
        all
    }

    /// The number of visible rows that `is_it` accepts.
    pub(crate) fn count(&self, is_it: impl Fn(&str) -> bool) -> usize {
        self.visible().iter().filter(|row| is_it(row)).count()
    }

    fn take(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                _ if !self.sequence.is_empty() => self.continue_sequence(character),
                '\x1b' => self.sequence.push(character),
                '\r' => self.column = 0,
                '\n' => self.next_row(),
                character => self.put(character),
            }
        }
    }

    fn put(&mut self, character: char) {
        if self.column == self.columns {
            self.lines[self.row].continues = true;
            self.next_row();
            self.column = 0;
        }
        let text = &mut self.lines[self.row].text;
        if text.len() <= self.column {
            text.resize(self.column + 1, ' ');
        }
        text[self.column] = character;
        self.column += 1;
    }

    fn next_row(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Row::default());
        }
        self.top = self.top.max((self.row + 1).saturating_sub(self.rows));
    }

    fn continue_sequence(&mut self, character: char) {
        self.sequence.push(character);
        let is_end = character.is_ascii_alphabetic() && self.sequence.len() > 2;
        if !is_end {
            return;
        }
        let sequence = std::mem::take(&mut self.sequence);
        let parameter = &sequence[2..sequence.len() - 1];
        match (character, parameter) {
            ('A', rows) => {
                let rows: usize = rows.parse().expect("the cursor moves by a number of rows");
                self.row = self.row.saturating_sub(rows).max(self.top);
                self.redraws += 1;
            }
            ('K', "") => self.erase_row_end(),
            ('J', "") => {
                self.erase_row_end();
                self.lines.truncate(self.row + 1);
            }
            ('m', _) => self.emphases += 1,
            _ => panic!("unexpected control sequence {sequence:?}"),
        }
    }

    fn erase_row_end(&mut self) {
        let row = &mut self.lines[self.row];
        row.text.truncate(self.column);
        row.continues = false;
    }

    fn resize(&mut self, columns: usize, rows: usize) {
        let mut lines: Vec<Vec<char>> = Vec::new();
        let mut cursor = (0, 0);
        let mut continues = false;
        for (index, row) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            if !continues {
                lines.push(Vec::new());
            }
            let number = lines.len() - 1;
            if index == self.row {
                cursor = (number, lines[number].len() + self.column);
            }
            lines[number].extend(row.text);
            continues = row.continues;
        }
        for (number, line) in lines.iter().enumerate() {
            if number == cursor.0 {
                self.row = self.lines.len() + cursor.1 / columns;
                self.column = cursor.1 % columns;
            }
            let pieces =
                line.chunks(columns).map(|text| Row { text: text.to_vec(), continues: true });
            self.lines.extend(pieces);
            match self.lines.last_mut() {
                Some(last) if !line.is_empty() => last.continues = false,
                _ => self.lines.push(Row::default()),
            }
        }
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, Row::default());
        }
        (self.columns, self.rows) = (columns, rows);
        self.top = (self.row + 1).saturating_sub(rows);
    }
}
