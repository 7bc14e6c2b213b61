// Returns what is wrong with the layout of a page: what is cut, what overlaps, what is empty.
(() => {
  const problems = [];
  const name = element => `${element.tagName.toLowerCase()}${element.id ? "#" + element.id : ""}${element.getAttribute("class") ? "." + element.getAttribute("class") : ""} "${element.textContent.slice(0, 40)}"`;
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    problems.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const element of document.querySelectorAll("body *:not(script):not(style)")) {
    const isInDrawing = element.closest("svg") && !element.matches("svg");
    if (isInDrawing || element.matches("input") || element.closest("#tip, [hidden]") || element.parentElement.closest(".scroll"))
      continue;
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && getComputedStyle(element).display !== "inline" && !element.matches("svg, details, summary, .scroll"))
      problems.push(`cut: ${name(element)}: ${element.scrollWidth} of ${element.clientWidth} px`);
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.left < -1 || box.right > width + 1))
      problems.push(`outside: ${name(element)}: ${box.left} to ${box.right}`);
  }
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map(text => [text, text.getBoundingClientRect()]);
    for (const [text, box] of texts)
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
        problems.push(`cut in a drawing: ${name(text)}: ${[box.left, box.right, box.top, box.bottom]} in ${[frame.left, frame.right, frame.top, frame.bottom]}`);
    texts.sort((a, b) => a[1].top - b[1].top);
    for (let i = 0; i < texts.length; ++i)
      for (let k = i + 1; k < texts.length && texts[k][1].top < texts[i][1].bottom; ++k) {
        const [a, b] = [texts[i][1], texts[k][1]];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
          problems.push(`overlap: ${name(texts[i][0])} and ${name(texts[k][0])}`);
      }
  }
  for (const text of document.querySelectorAll("svg text")) {
    const size = parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a;
    if (size < 8.5)
      problems.push(`too small to read: ${name(text)}: ${size} px`);
  }
  const ruler = document.createElement("canvas").getContext("2d");
  for (const input of document.querySelectorAll("input[placeholder]")) {
    const style = getComputedStyle(input);
    ruler.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (ruler.measureText(input.placeholder).width > room)
      problems.push(`cut: "${input.placeholder}" in ${room} px`);
  }
  // Nothing in a graph crosses a node: no other node, no sharding, no edge.
  const inner = (box, x, y) => x > box.left + 2 && x < box.right - 2 && y > box.top + 2 && y < box.bottom - 2;
  const nodes = [...document.querySelectorAll("svg .node")].map(node => [node, node.getBoundingClientRect()]);
  for (const [node, box] of nodes) {
    for (const [other, place] of nodes)
      if (node !== other && inner({left: box.left, right: box.right + place.width, top: box.top, bottom: box.bottom + place.height}, place.right, place.bottom))
        problems.push(`nodes overlap: ${node.dataset.tip} and ${other.dataset.tip}`);
    for (const text of node.ownerSVGElement.querySelectorAll("text")) {
      const place = text.getBoundingClientRect();
      const corners = [[place.left, place.top], [place.right, place.top], [place.left, place.bottom], [place.right, place.bottom]].filter(([x, y]) => inner(box, x, y));
      if (corners.length % 4)
        problems.push(`${name(text)} crosses the node ${node.dataset.tip}`);
    }
  }
  for (const edge of document.querySelectorAll("svg .edge")) {
    const length = edge.getTotalLength(), matrix = edge.getScreenCTM();
    for (let at = 0; at < length; at += 8) {
      const point = edge.getPointAtLength(at).matrixTransform(matrix);
      const crossed = nodes.find(([, box]) => inner(box, point.x, point.y));
      if (crossed) {
        problems.push(`an edge of ${edge.dataset.tip} crosses the node ${crossed[0].dataset.tip}`);
        break;
      }
    }
  }
  const leaves = [...document.querySelectorAll(".card dt, .card dd, .bars > *, .stages > *, .heading > *, .legend span, td, th, figcaption, .lint")].filter(element => !element.closest(".scroll, [hidden]") && element.textContent)
    .map(element => [element, element.getBoundingClientRect()]).sort((a, b) => a[1].top - b[1].top);
  for (let i = 0; i < leaves.length; ++i)
    for (let k = i + 1; k < leaves.length && leaves[k][1].top < leaves[i][1].bottom - 2; ++k) {
      const [[a, boxA], [b, boxB]] = [leaves[i], leaves[k]];
      if (!a.contains(b) && !b.contains(a) && Math.min(boxA.right, boxB.right) - Math.max(boxA.left, boxB.left) > 1)
        problems.push(`overlap: ${name(a)} and ${name(b)}`);
    }
  for (const part of document.querySelectorAll("section")) {
    const content = [...part.children].slice(1);
    if (!content.length || !content.some(child => child.textContent.trim() || child.querySelector("svg > *, i")) || part.clientHeight < 50)
      problems.push(`empty: ${name(part)}`);
    for (const svg of part.querySelectorAll("svg"))
      if (!svg.children.length && svg.closest(".plot"))
        problems.push(`empty drawing in ${name(part)}`);
  }
  return problems.slice(0, 20);
})()
