// Elements of the page. Names come from models, so text is always set as text, never as HTML.

/** Returns an HTML element. Children are elements, texts, or null. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Returns an SVG element. */
function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on"))
      element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined)
      element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

/** Returns a section with a heading, or null if there is nothing in it. */
function section(id, title, note, ...children) {
  const content = children.flat(Infinity).filter(child => child);
  const tools = content.filter(child => child.classList && child.classList.contains("tools"));
  const rest = content.filter(child => !tools.includes(child));
  if (!rest.length)
    return null;
  return make("section", {id},
    make("div", {class: "heading"}, make("h2", {}, title), note ? make("span", {class: "note"}, note) : null, tools), rest);
}

const colour = name => "var(--" + name + ")";

/** Returns a legend of [colour, meaning]. */
function legend(entries, ...further) {
  return make("div", {class: "legend"},
    entries.map(([name, meaning]) => make("span", {}, make("i", {style: "background:" + colour(name)}), meaning)), further);
}

/** Returns a bar of parts [colour, size, tip]; a size of `whole` fills it. */
function bar(parts, whole, isBare = false) {
  return make("div", {class: isBare ? "bar bare" : "bar"}, parts.filter(([, size]) => size > 0).map(([name, size, tip]) =>
    make("i", {style: "background:" + colour(name) + ";width:" + (whole > 0 ? 100 * size / whole : 0).toFixed(3) + "%", "data-tip": tip})));
}

const ruler = document.createElement("canvas").getContext("2d");

const widths = new Map();

/** Returns the width of a text of the given size in pixels. Each is measured once, because that takes long. */
function widthOf(text, size = 12) {
  const key = size + " " + text;
  if (!widths.has(key)) {
    ruler.font = size + "px " + (widthOf.family = widthOf.family || getComputedStyle(document.body).fontFamily);
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

/** Returns a drawing that is drawn again whenever its width changes. `draw` gets the width and returns {height, shapes}. */
function plot(label, draw) {
  const svg = shape("svg", {role: "img", "aria-label": label});
  const frame = make("div", {class: "plot"}, svg);
  let width = 0;
  frame.redraw = () => {
    if (!width)
      return;
    const {height, shapes} = draw(width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    svg.replaceChildren(...shapes.flat(Infinity).filter(child => child));
  };
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (Math.floor(frame.clientWidth) !== width) {
      width = Math.floor(frame.clientWidth);
      frame.redraw();
    }
  })).observe(frame);
  return frame;
}

/** Returns numbers from 0 or `low` to `high` at which an axis of `width` pixels has its ticks, at least `least` pixels apart. */
function ticks(low, high, width, least) {
  const rough = (high - low) * least / Math.max(width, 1);
  if (!(rough > 0))
    return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find(factor => factor * power >= rough) || 10);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i)
    list.push(i * step);
  return list;
}

/** Shows what `data-tip` of the element under the pointer says. */
function showTips() {
  const tip = document.getElementById("tip");
  const hide = () => { tip.hidden = true; };
  const show = event => {
    const target = event.target.closest ? event.target.closest("[data-tip]") : null;
    if (!target)
      return hide();
    tip.textContent = target.getAttribute("data-tip");
    tip.hidden = false;
    const {width, height} = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 6);
    const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
    tip.style.transform = `translate(${Math.max(6, x)}px, ${Math.max(6, y)}px)`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("pointerleave", hide);
  document.addEventListener("scroll", hide, {passive: true});
}
