// Numbers and names as people read them.

const thousands = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(n) {
  return thousands.format(n);
}

// Three digits: "16 B", "640 kB", "1.92 MB".
export function size(n) {
  const sign = n < 0 ? "-" : "";
  let value = Math.abs(n);
  if (value < 1000) return `${sign}${Math.round(value)} B`;
  for (const unit of ["kB", "MB", "GB", "TB", "PB", "EB"]) {
    value /= 1000;
    if (value < 9.995) return `${sign}${value.toFixed(2)} ${unit}`;
    if (value < 99.95) return `${sign}${value.toFixed(1)} ${unit}`;
    if (value < 999.5 || unit === "EB") return `${sign}${value.toFixed(0)} ${unit}`;
  }
}

// Never rounds what is not all to all, nor something to nothing.
export function percent(part, whole) {
  if (!(whole > 0)) return "-";
  const share = (100 * part) / whole;
  if (part === 0) return "0 %";
  if (share < 0.1) return "<0.1 %";
  if (share < 9.95) return `${share.toFixed(1)} %`;
  if (part < whole && share > 99) return "99 %";
  return `${share.toFixed(0)} %`;
}

export function seconds(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 100_000) return `${(ms / 1000).toFixed(2)} s`;
  return `${(ms / 1000).toFixed(0)} s`;
}

export function counted(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// "432 times fewer", "1.2 times more".
export function factor(old, now, more = "more", fewer = "fewer") {
  if (old === now) return "the same";
  if (old === 0) return "new";
  if (now === 0) return "gone";
  const ratio = now > old ? now / old : old / now;
  const word = now > old ? more : fewer;
  if (ratio < 1.995) return `${percent(Math.abs(now - old), old)} ${word}`;
  return `${ratio < 9.95 ? ratio.toFixed(1) : count(ratio)} times ${word}`;
}

export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

// The last folder stays: there are many files named util.c.
export function shortPath(path) {
  const parts = path.split("/").filter(Boolean);
  return parts.length <= 2 ? path : parts.slice(-2).join("/");
}

const plainer = [
  [/\(anonymous namespace\)::/g, ""],
  [/\bstd::(?:__cxx11|__1)::/g, "std::"],
  [/\bstd::basic_string<char(?:, std::char_traits<char>, std::allocator<char> ?)?>/g, "std::string"],
  [/ \[(?:clone|abi:)[^\]]*\]/g, ""],
];

// bareName leaves out what every reader of C++ skips: parameters, what is
// returned, names that only the library sees.
export function bareName(name) {
  if (!name.includes("(") && !name.includes(" ")) return name;
  for (const [what, by] of plainer) name = name.replace(what, by);
  const bare = withoutParameters(name);
  return bare === name ? name : withoutResult(bare) || name;
}

function withoutParameters(name) {
  const end = name.replace(/(?: const| volatile| noexcept| &&?)+$/, "");
  if (!end.endsWith(")")) return name;
  let depth = 0;
  for (let i = end.length - 1; i > 0; i--) {
    if (end[i] === ")") depth++;
    else if (end[i] === "(" && --depth === 0) {
      const bare = end.slice(0, i);
      return bare.endsWith("::") || bare.endsWith("operator") || bare.endsWith(" ") ? name : bare;
    }
  }
  return name;
}

// What stands before the last blank outside of all brackets, but not within an
// operator's name.
function withoutResult(name) {
  const until = /(?<=^|[\s:])operator\b/.exec(name)?.index ?? name.length;
  let depth = 0;
  let from = 0;
  for (let i = 0; i < until; i++) {
    if ("<([{".includes(name[i])) depth++;
    else if (">)]}".includes(name[i]) && name[i - 1] !== "-") depth--;
    else if (name[i] === " " && depth === 0) from = i + 1;
  }
  return depth === 0 ? name.slice(from) : name;
}

// shorten makes a demangled name fit without losing what tells it from others:
// the longest template arguments go first, then parameters, the middle last.
export function shorten(name, most) {
  for (const pair of ["<>", "()"]) {
    while (name.length > most) {
      const group = longestGroup(name, pair, 3);
      if (!group) break;
      name = name.slice(0, group.from + 1) + "…" + name.slice(group.to);
    }
  }
  if (name.length <= most) return name;
  if (most < 16) return name.slice(0, most - 1) + "…";
  const head = Math.floor((most - 1) / 3);
  return name.slice(0, head) + "…" + name.slice(name.length - (most - 1 - head));
}

// The longest group without another one in it that is worth leaving out, so
// that the outermost arguments stay longest.
function longestGroup(name, pair, least) {
  const open = [];
  let longest = null;
  for (let i = 0; i < name.length; i++) {
    if (name.startsWith("operator", i)) {
      const sign = /^operator(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|\(\)|<|>)/.exec(name.slice(i, i + 12));
      if (sign) {
        i += sign[0].length - 1;
        continue;
      }
    }
    if (name[i] === pair[0]) {
      open.push({ at: i, worthy: false });
    } else if (name[i] === pair[1] && name[i - 1] !== "-" && open.length > 0) {
      const from = open.pop();
      const length = i - from.at - 1;
      if (length >= least && !from.worthy) {
        if (!longest || length > longest.to - longest.from - 1) longest = { from: from.at, to: i };
        if (open.length > 0) open[open.length - 1].worthy = true;
      } else if (from.worthy && open.length > 0) {
        open[open.length - 1].worthy = true;
      }
    }
  }
  return longest;
}
