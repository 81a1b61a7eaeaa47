// Reads a web server's log and sums up who asked for what: per host, per path, and the slow requests. The log is made
// by the program itself.
//
//   rustc --edition 2021 -C opt-level=3 -g logs.rs && mallow ./logs
use std::collections::HashMap;
use std::fmt::Write;

const LINES: usize = 20_000;

// --- the log --------------------------------------------------------------------------------------------------

struct Random(u32);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }
}

fn make_log() -> String {
    const SECTIONS: [&str; 4] = ["gardening-tools", "kitchen-appliances", "musical-instruments", "books"];
    let mut random = Random(23);
    let mut log = String::with_capacity(LINES * 140);
    for i in 0..LINES {
        let page = random.below(60);
        let seconds = if random.below(50) == 0 { 1 + random.below(9) } else { 0 };
        writeln!(
            log,
            "198.51.100.{} {:02}:{:02}:{:02} GET /catalogue/pages/{}/{}?user={}&order={} {} {} {}.{:03}",
            random.below(40),
            i / 3600 % 24,
            i / 60 % 60,
            i % 60,
            SECTIONS[page as usize % 4],
            page,
            random.below(1000),
            random.below(100_000),
            if random.below(20) == 0 { 404 } else { 200 },
            200 + random.below(30_000),
            seconds,
            random.below(1000)
        )
        .expect("a string takes everything");
    }
    log
}

// --- the parser -----------------------------------------------------------------------------------------------

struct Request<'a> {
    host: &'a str,
    path: &'a str,
    query: &'a str,
    status: u32,
    bytes: u64,
    seconds: f64,
}

// host time method target status bytes seconds
fn parse(line: &str) -> Option<Request<'_>> {
    let mut fields = line.split(' ');
    let host = fields.next()?;
    let target = fields.nth(2)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        host,
        path,
        query,
        status: fields.next()?.parse().ok()?,
        bytes: fields.next()?.parse().ok()?,
        seconds: fields.next()?.parse().ok()?,
    };
    fields.next().is_none().then_some(request)
}

// --- the sums -------------------------------------------------------------------------------------------------

#[derive(Default)]
struct Sum {
    requests: u64,
    bytes: u64,
    seconds: f64,
}

impl Sum {
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        self.bytes += request.bytes;
        self.seconds += request.seconds;
    }
}

#[derive(Default)]
struct Report {
    paths: HashMap<String, Sum>,
    visits: HashMap<String, Sum>,
    waited: HashMap<String, Sum>,
    failed: u64,
    visit: String, // that of the last request
}

// Makes a string only for a name that is new.
fn sum_of<'a>(sums: &'a mut HashMap<String, Sum>, name: &str) -> &'a mut Sum {
    if !sums.contains_key(name) {
        sums.insert(name.to_string(), Sum::default());
    }
    sums.get_mut(name).expect("it is there")
}

impl Report {
    fn take(&mut self, request: &Request) {
        sum_of(&mut self.paths, request.path).add(request);
        self.visit.clear();
        write!(self.visit, "{} {}", request.host, request.path).expect("a string takes everything");
        sum_of(&mut self.visits, &self.visit).add(request);
        if request.status >= 400 {
            self.failed += 1;
        }
        if request.seconds >= 1.0 {
            let user = request.query.split('&').find_map(|p| p.strip_prefix("user=")).unwrap_or("");
            sum_of(&mut self.waited, user).add(request);
        }
    }

    fn print(&self) {
        println!(
            "{} paths, {} visits, {} users waited, {} failed",
            self.paths.len(),
            self.visits.len(),
            self.waited.len(),
            self.failed
        );
        print_top("path", self.paths.iter().map(|(name, sum)| (name.as_str(), sum)).collect());
        print_top("visit", self.visits.iter().map(|(name, sum)| (name.as_str(), sum)).collect());
        print_top("user", self.waited.iter().map(|(name, sum)| (name.as_str(), sum)).collect());
    }
}

fn print_top(what: &str, mut sums: Vec<(&str, &Sum)>) {
    sums.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then(a.0.cmp(b.0)));
    for (name, sum) in sums.iter().take(3) {
        println!("{what} {name}: {} requests, {} bytes, {:.3} s", sum.requests, sum.bytes, sum.seconds);
    }
}

fn main() {
    let log = make_log();
    let mut report = Report::default();
    for line in log.lines() {
        if let Some(request) = parse(line) {
            report.take(&request);
        }
    }
    report.print();
}
