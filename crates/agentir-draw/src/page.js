'use strict';
const graphs = JSON.parse(document.getElementById('data').textContent);
const stage = document.getElementById('stage');
const panel = document.getElementById('panel');
const which = document.getElementById('which');
const start = panel.innerHTML;
let current = 0;
const picture = () => stage.querySelector(`[data-graph="${current}"]`);

function element(name, text, parent) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}

function edges(title, list, end) {
  if (list.length === 0) return;
  element('h3', title, panel);
  const ul = element('ul', '', panel);
  for (const edge of list) {
    const li = element('li', '', ul);
    const node = graphs[current].nodes[edge[end]];
    element('button', node.label || node.kind, li).onclick = () => choose(edge[end]);
    let why = edge.why;
    if (edge.decided_by !== 'nobody') why += `, decided by ${edge.decided_by}`;
    else if (why === 'jump') why = 'unconditional jump';
    if (edge.limit !== undefined) why += `, at most ${edge.limit} times`;
    element('small', why, li);
    for (const guard of edge.guard || []) element('small', `if ${guard}`, li);
  }
}

function choose(id) {
  const graph = graphs[current];
  const node = graph.nodes[id];
  const near = new Set([id]);
  for (const edge of graph.edges) {
    if (edge.from === id) near.add(edge.to);
    if (edge.to === id) near.add(edge.from);
  }
  for (const g of picture().querySelectorAll('.node')) {
    const own = Number(g.dataset.id);
    g.classList.toggle('dim', !near.has(own));
    g.classList.toggle('chosen', own === id);
  }
  for (const g of picture().querySelectorAll('.edge')) {
    g.classList.toggle('dim', Number(g.dataset.from) !== id && Number(g.dataset.to) !== id);
  }
  panel.textContent = '';
  element('h2', node.label || node.kind, panel);
  const agent = node.agent === undefined ? '' : ` of ${graph.agents[node.agent].name}`;
  element('div', node.kind + (node.step ? ` in step ${node.step}` : '') + agent, panel);
  if (node.place) element('div', node.place, panel).className = 'place';
  if (node.unreachable) element('div', 'No way leads here.', panel);
  edges('What follows', graph.edges.filter((e) => e.from === id), 'to');
  edges('What leads here', graph.edges.filter((e) => e.to === id), 'from');
}

function rest() {
  for (const g of picture().querySelectorAll('.dim,.chosen')) g.classList.remove('dim', 'chosen');
  panel.innerHTML = start;
}

const views = {};
const wholes = {};
// How many units of a picture one pixel may show before its texts are too small to be read.
const LEGIBLE = 1.25;
function whole() {
  if (!wholes[current]) {
    const [x, y, w, h] = picture().getAttribute('viewBox').split(' ').map(Number);
    wholes[current] = { x, y, w, h };
  }
  return wholes[current];
}
// The whole picture if it can be read; else what is around the place where everything begins.
function opening() {
  const { x, y, w, h } = whole();
  const box = stage.getBoundingClientRect();
  if (!(Math.max(w / box.width, h / box.height) > LEGIBLE)) return { x, y, w, h };
  const graph = graphs[current];
  const entry = graph.agents.findIndex((agent) => agent.name === graph.entry_agent);
  const own = graph.nodes.filter((node) => node.agent === entry);
  const first = own.find((node) => node.kind === 'entry') || own[0] || graph.nodes[0];
  const drawn = first && picture().querySelector(`.node[data-id="${first.id}"]`);
  const toPicture = picture().getScreenCTM();
  if (!drawn || !toPicture) return { x, y, w, h };
  const seen = drawn.getBoundingClientRect();
  const middle = new DOMPoint(seen.x + seen.width / 2, seen.y + seen.height / 2)
    .matrixTransform(toPicture.inverse());
  const along = (at, begin, all, shown) => (all <= shown
    ? begin - (shown - all) / 2
    : Math.min(Math.max(at, begin), begin + all - shown));
  return {
    x: along(middle.x - box.width / 2, x, w, box.width),
    // What follows stands below.
    y: along(middle.y - box.height / 4, y, h, box.height),
    w: box.width,
    h: box.height,
  };
}
function view() {
  views[current] ||= opening();
  return views[current];
}
function draw() {
  const v = view();
  picture().setAttribute('viewBox', `${v.x} ${v.y} ${v.w} ${v.h}`);
}
const scale = () => {
  const box = stage.getBoundingClientRect();
  return Math.max(view().w / box.width, view().h / box.height);
};
stage.addEventListener('wheel', (event) => {
  event.preventDefault();
  const v = view();
  const by = event.deltaY > 0 ? 1.15 : 1 / 1.15;
  const box = stage.getBoundingClientRect();
  const px = (event.clientX - box.left) / box.width;
  const py = (event.clientY - box.top) / box.height;
  v.x += v.w * (1 - by) * px;
  v.y += v.h * (1 - by) * py;
  v.w *= by;
  v.h *= by;
  draw();
}, { passive: false });
let drag = null;
let moved = false;
stage.addEventListener('pointerdown', (event) => {
  drag = [event.clientX, event.clientY];
  moved = false;
});
window.addEventListener('pointermove', (event) => {
  if (!drag) return;
  const s = scale();
  moved = moved || Math.hypot(event.clientX - drag[0], event.clientY - drag[1]) > 3;
  view().x -= (event.clientX - drag[0]) * s;
  view().y -= (event.clientY - drag[1]) * s;
  drag = [event.clientX, event.clientY];
  draw();
});
window.addEventListener('pointerup', () => { drag = null; });
stage.addEventListener('click', (event) => {
  if (moved) return;
  const node = event.target.closest('.node');
  if (node) choose(Number(node.dataset.id)); else rest();
});
stage.addEventListener('dblclick', () => {
  views[current] = { ...whole() };
  draw();
});
stage.addEventListener('keydown', (event) => {
  const node = event.target.closest('.node');
  if (node && event.key === 'Enter') choose(Number(node.dataset.id));
});
which.onchange = () => {
  rest();
  picture().setAttribute('hidden', '');
  current = Number(which.value);
  picture().removeAttribute('hidden');
  draw();
};
document.getElementById('find').oninput = (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const g of picture().querySelectorAll('.node')) {
    const node = graphs[current].nodes[Number(g.dataset.id)];
    g.classList.toggle('dim', wanted !== '' && !node.label.toLowerCase().includes(wanted));
  }
};
draw();
