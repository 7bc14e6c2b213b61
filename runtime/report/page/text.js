// Numbers as text, in the units that pcc prints.

/** Returns `number` in the largest unit of which there is at least one, with about three digits. */
function scaled(number, units, step) {
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(number) >= step) {
    number /= step;
    ++unit;
  }
  number = Number(number.toPrecision(6));
  const size = Math.abs(number);
  const decimals = Number.isInteger(number) && size < step || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return number.toFixed(decimals) + units[unit];
}

/** Returns bytes as `pcc inspect` prints them, such as "96.0 KiB". */
function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (number >= 1024 && unit < 4) {
    number /= 1024;
    ++unit;
  }
  return number.toFixed(unit ? 1 : 0) + " " + units[unit];
}

function seconds(number) {
  return number === 0 ? "0 s" : scaled(number * 1e9, [" ns", " µs", " ms", " s"], 1000);
}

const flops = number => scaled(number, [" FLOP", " KFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP"], 1000);
const short = number => scaled(number, ["", " K", " M", " G", " T"], 1000);
const percent = share => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
const plural = (count, noun) => count.toLocaleString("en-US") + " " + noun + (count === 1 ? "" : /(ch|x)$/.test(noun) ? "es" : "s");
const sum = numbers => numbers.reduce((total, number) => total + number, 0);
const most = numbers => numbers.reduce((best, number) => Math.max(best, number), 0);

/** Returns ranks as text: "rank 3" or "ranks 0–127". */
const ranksText = ([first, last]) => first === last ? "rank " + first : "ranks " + first + "–" + last;

/** Returns a mesh as text, such as "pp 4 × tp 2". */
const meshText = mesh => Object.entries(mesh).map(([name, size]) => name + " " + size).join(" × ") || "one rank";

/** Returns the names without the components that all of them begin with: ["a.h.0", "a.h.1"] gives ["h.0", "h.1"]. */
function withoutCommon(names) {
  const parts = names.map(name => name.split("."));
  let common = 0;
  while (parts.length && parts.every(part => part.length > common + 2 && part[common] === parts[0][common]))
    ++common;
  return parts.map(part => part.slice(common).join("."));
}
