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
  if (node.place) {
    const place = element(editor ? 'button' : 'div', node.place, panel);
    place.className = 'place';
    place.onclick = () => editor?.postMessage({ open: node.place });
  }
  for (const found of findings.get(id) || []) {
    element('p', found.message, panel).className = `found-${found.severity}`;
  }
  if (node.unreachable) element('div', 'No way leads here.', panel);
  edges('What follows', graph.edges.filter((e) => e.from === id), 'to');
  edges('What leads here', graph.edges.filter((e) => e.to === id), 'from');
}

// The editor that shows this page, if one does: it says where its cursor is and what was found, and opens places.
const editor = typeof acquireVsCodeApi === 'function' ? acquireVsCodeApi() : undefined;
// The findings at each node of the picture that is shown.
let findings = new Map();
let found = JSON.parse(document.getElementById('findings').textContent);

// The node that a line of a file belongs to: of those whose lines it is among, the one with the fewest.
function nodeAt(file, line) {
  let best;
  let fewest = Infinity;
  for (const node of graphs[current].nodes) {
    const place = /^(.*):(\d+):\d+$/.exec(node.place || '');
    if (!place || place[1] !== file || node.last_line === undefined) continue;
    const first = Number(place[2]);
    const count = node.last_line - first;
    if (line < first || line > node.last_line || count >= fewest) continue;
    best = node;
    fewest = count;
  }
  return best;
}

function mark() {
  findings = new Map();
  for (const one of found) {
    const node = nodeAt(one.file, one.line);
    if (node) findings.set(node.id, [...(findings.get(node.id) || []), one]);
  }
  for (const g of picture().querySelectorAll('.node')) {
    const own = findings.get(Number(g.dataset.id)) || [];
    g.classList.toggle('has-error', own.some((one) => one.severity === 'error'));
    g.classList.toggle('has-warning', own.some((one) => one.severity !== 'error'));
  }
}

// Shows where the cursor is, and moves the picture if that is out of sight.
function here(file, line) {
  const node = nodeAt(file, line);
  for (const g of picture().querySelectorAll('.here')) g.classList.remove('here');
  const drawn = node && picture().querySelector(`.node[data-id="${node.id}"]`);
  if (!drawn) return;
  drawn.classList.add('here');
  const seen = drawn.getBoundingClientRect();
  const box = stage.getBoundingClientRect();
  const isIn = seen.left >= box.left && seen.right <= box.right && seen.top >= box.top && seen.bottom <= box.bottom;
  if (isIn) return;
  const s = scale();
  view().x += (seen.x + seen.width / 2 - box.x - box.width / 2) * s;
  view().y += (seen.y + seen.height / 2 - box.y - box.height / 2) * s;
  draw();
}

window.addEventListener('message', ({ data }) => {
  if (!editor || !data) return;
  if (data.findings) {
    found = data.findings;
    mark();
  }
  if (data.cursor) here(data.cursor.file, data.cursor.line);
});

function rest() {
  for (const g of picture().querySelectorAll('.dim,.chosen')) g.classList.remove('dim', 'chosen');
  panel.innerHTML = start;
}

// What is shown survives a newer page, once it is what was shown before.
let isReady = false;
const kept = () => JSON.stringify({ name: which.selectedOptions[0]?.textContent, view: views[current] });

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
  if (isReady) editor?.setState(kept());
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
  mark();
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

const KEPT = 'agentir.graph';
function restore(text) {
  const { name, view: shown } = JSON.parse(text || '{}');
  const option = [...which.options].find((one) => one.textContent === name);
  if (!option) return;
  which.value = option.value;
  which.onchange();
  if (shown) views[current] = shown;
  draw();
}

// A page of `agentir graph --watch` asks for a newer one. Each process counts from another number.
async function follow(version) {
  const notice = element('p', '', document.querySelector('header'));
  notice.className = 'found-error';
  for (;;) {
    try {
      const said = await (await fetch('version')).json();
      if (said.version !== version) {
        sessionStorage.setItem(KEPT, kept());
        location.reload();
        return;
      }
      notice.textContent = said.error || '';
    } catch {
      notice.textContent = '`agentir graph --watch` has ended.';
    }
    await new Promise((later) => { setTimeout(later, 500); });
  }
}

mark();
if (document.body.dataset.version) {
  restore(sessionStorage.getItem(KEPT));
  follow(Number(document.body.dataset.version));
}
if (editor) {
  restore(editor.getState());
  isReady = true;
  editor.postMessage({ ready: true });
}

// Keys: arrows move, `+` and `-` come closer and go away, `0` shows all, `/` searches.
window.addEventListener('keydown', (event) => {
  if (event.target.matches('input,select') || event.ctrlKey || event.metaKey || event.altKey) return;
  const v = view();
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (step) {
    v.x += (step[0] * v.w) / 10;
    v.y += (step[1] * v.h) / 10;
  } else if (event.key === '+' || event.key === '-') {
    const by = event.key === '+' ? 1 / 1.15 : 1.15;
    v.x += (v.w * (1 - by)) / 2;
    v.y += (v.h * (1 - by)) / 2;
    v.w *= by;
    v.h *= by;
  } else if (event.key === '0') views[current] = { ...whole() };
  else if (event.key === '/') document.getElementById('find').focus();
  else if (event.key === 'Escape') rest();
  else return;
  event.preventDefault();
  draw();
});
