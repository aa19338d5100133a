// Drives VS Code's workbench with the extension: run by `cargo xtask editors`, in a folder with `boats.agent.abl`.
// Prints a line for each check, and exits with 1 if one fails.
//
// Needs `code-server` and `playwright-core`, which are in `node_modules` of the folder EDITORS, and Chromium.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const { AGENTIR, EDITORS, EXTENSION, PICTURES, CHROMIUM = '/usr/bin/chromium' } = process.env;
const { chromium } = createRequire(path.join(EDITORS, 'package.json'))('playwright-core');

const folder = process.cwd();
const FILE = 'boats.agent.abl';
const file = path.join(folder, FILE);
const MOST = 60_000;

let failed = false;
function check(name, holds, seen) {
  if (holds) {
    console.log(`ok ${name}`);
  } else {
    failed = true;
    console.log(`FAILED ${name}: ${JSON.stringify(seen)}`);
  }
}

// What `get` returns as soon as it holds, or in the end.
async function until(get, holds = Boolean, most = MOST) {
  const end = Date.now() + most;
  for (;;) {
    const value = await Promise.resolve(get()).catch((error) => String(error));
    if (holds(value) || Date.now() > end) return value;
    await new Promise((done) => setTimeout(done, 100));
  }
}

// A user of the workbench, with the extension and a program of the settings.
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'workbench-'));
fs.mkdirSync(path.join(home, 'data', 'User'), { recursive: true });
const settings = {
  'agentir.path': AGENTIR,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'security.workspace.trust.enabled': false,
  'editor.minimap.enabled': false,
  'files.autoSave': 'off',
  'telemetry.telemetryLevel': 'off',
  'window.commandCenter': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
};
const configure = (others) =>
  fs.writeFileSync(path.join(home, 'data', 'User', 'settings.json'), JSON.stringify({ ...settings, ...others }));
configure({});
const entry = path.join(EDITORS, 'node_modules', 'code-server', 'out', 'node', 'entry.js');
const places = ['--user-data-dir', path.join(home, 'data'), '--extensions-dir', path.join(home, 'extensions')];
const environment = { ...process.env, HOME: home };
const installed = spawnSync(process.execPath, [entry, ...places, '--install-extension', EXTENSION], {
  encoding: 'utf8',
  env: environment,
});
check('the extension is installed', installed.status === 0 && /successfully installed/.test(installed.stdout), [
  installed.stdout,
  installed.stderr,
]);

const port = await new Promise((done) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});
const log = fs.openSync(path.join(PICTURES, 'code-server.log'), 'w');
const server = spawn(
  process.execPath,
  [entry, ...places, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', folder],
  { env: environment, stdio: ['ignore', log, log] },
);
const isUp = () => fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.ok);
check('the workbench is served', (await until(isUp, (up) => up === true)) === true, 'see code-server.log');

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
let page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
page.setDefaultTimeout(MOST);

const picture = (name) => page.screenshot({ path: path.join(PICTURES, `${name}.png`) });

async function command(title) {
  await page.keyboard.press('F1');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
}

// Moves the cursor of the text to a line and a column, which count from one.
async function go(line, column) {
  await page.locator('.editor-instance .view-lines').first().click();
  await page.keyboard.press('Control+g');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(`:${line}:${column}`);
  await page.keyboard.press('Enter');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  const status = page.locator('.statusbar-item', { hasText: `Ln ${line}, Col ${column}` });
  await status.waitFor();
}

const text = () => fs.readFileSync(file, 'utf8');

// Edits of the server come when they come, so that the text is saved until it is what it should be.
async function save(holds) {
  return until(
    async () => {
      await page.keyboard.press('Control+s');
      return text();
    },
    holds,
    20_000,
  );
}

try {
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`);
  await page.locator('.monaco-workbench').waitFor();
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: FILE }).dblclick();
  await page.locator('.editor-instance .view-lines').first().waitFor();

  // Findings: lines below the text, and a list with the places that belong to them.
  await page.locator('.squiggly-error').first().waitFor();
  check('an error is underlined', true);
  await command('Problems: Focus on Problems View');
  const problems = page.locator('.markers-panel');
  await problems.locator('.monaco-list-row', { hasText: 'book_bout' }).first().waitFor();
  const listed = await problems.innerText();
  check('findings are listed', /undefined-tool/.test(listed) && /no branch handles/.test(listed), listed);
  await picture('findings');

  // Hover with the values with which a finding occurs.
  await go(21, 15);
  await command('Show or Focus Hover');
  const hover = page.locator('.monaco-hover:not(.hidden)').filter({ hasText: 'for example' }).first();
  await hover.waitFor();
  const said = await hover.innerText();
  check('hover has a witness', /missing-case: for example, if/.test(said) && /seats is 4/.test(said), said);
  await picture('hover');
  await page.keyboard.press('Escape');

  // A quick fix.
  await go(38, 14);
  await page.keyboard.press('Control+.');
  const actions = page.locator('.action-widget .monaco-list-row');
  await actions.first().waitFor();
  await picture('actions');
  const offered = await actions.allInnerTexts();
  check('a quick fix is offered', offered.some((one) => /book_boat/.test(one)), offered);
  await actions.filter({ hasText: 'book_boat' }).first().click();
  const repaired = await save((now) => now.includes('CALL: book_boat(seats)'));
  check('a quick fix is made', repaired.includes('CALL: book_boat(seats)'), repaired);
  const errors = await until(() => page.locator('.squiggly-error').count(), (count) => count === 0);
  check('a finding that is fixed is gone', errors === 0, errors);

  // Renaming.
  await go(5, 5);
  await page.keyboard.press('F2');
  const box = page.locator('.rename-box.preview');
  const name = box.locator('input').first();
  await name.waitFor();
  await name.fill('reserve_boat');
  await page.keyboard.press('Enter');
  await box.waitFor({ state: 'hidden' });
  const renamed = await save((now) => now.includes('CALL: reserve_boat(seats)'));
  check('a rename changes all places', /\n {2}reserve_boat\(seats/.test(renamed) && !renamed.includes('book_boat'), renamed);
  const lenses = await until(() => page.locator('.codelens-decoration').allInnerTexts(), (all) => all.length > 0);
  check('lenses are drawn', lenses.some?.((lens) => /Talk/i.test(lens)), lenses);
  await picture('renamed');

  // The graph beside the text.
  await command('agentir: Show the graph');
  const graph = await until(async () => {
    for (const frame of page.frames()) {
      if ((await frame.locator('.node').count()) > 0) return frame;
    }
    return undefined;
  }, (frame) => typeof frame === 'object');
  check('the graph opens', typeof graph === 'object', page.frames().map((frame) => frame.url()));
  const here = () => graph.locator('.node.here').allTextContents();
  for (const [line, step] of [[28, 'small'], [33, 'large']]) {
    await go(line, 5);
    const nodes = await until(here, (all) => all.some((one) => one.includes(step)));
    check(`the graph follows the cursor to ${step}`, nodes.some?.((one) => one.includes(step)), nodes);
    await picture(`graph-${step}`);
  }
  const marked = await until(() => graph.locator('.node.has-warning').count(), (count) => count > 0);
  check('findings are marked in the graph', marked > 0, marked);
  await graph.locator('.node', { hasText: 'choose' }).first().click();
  await graph.locator('#panel button.place').click();
  const shown = await until(
    () => page.locator('.statusbar-item', { hasText: /^Ln \d+/ }).first().innerText(),
    (status) => /Ln (1\d|2[0-4]),/.test(status),
  );
  check('a place in the graph opens the text', /Ln (1\d|2[0-4]),/.test(shown), shown);
  await picture('opened');

  // Colours are those of the editor.
  await command('Preferences: Toggle between Light/Dark Themes');
  const colour = () => graph.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await until(colour, (now) => now === 'rgb(13, 17, 23)');
  check('the graph is dark in a dark theme', dark === 'rgb(13, 17, 23)', dark);
  await picture('dark');

  // What agents are in another language, as a document that is not saved, with a report.
  await go(1, 3);
  await page.keyboard.press('Control+.');
  await page.locator('.action-widget .monaco-list-row', { hasText: 'Convert to Agent Script' }).first().click();
  const lines = () => page.locator('.view-lines').allInnerTexts();
  const converted = await until(lines, (all) => all.some((one) => /start_agent/.test(one)));
  check('a conversion opens as a document', converted.some?.((one) => /start_agent/.test(one)), converted);
  await picture('converted');

  // In a workspace that nobody trusts there are colours, and nothing is started.
  const started = path.join(home, 'started');
  const program = path.join(home, 'program');
  fs.writeFileSync(program, `#!/bin/sh\necho "$*" >>${started}\nexec ${AGENTIR} "$@"\n`, { mode: 0o755 });
  const trust = { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' };
  for (const [isTrusted, others] of [[true, {}], [false, trust]]) {
    configure({ 'agentir.path': program, ...others });
    fs.writeFileSync(started, '');
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(MOST);
    await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`);
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: FILE }).dblclick();
    await page.locator('.editor-instance .view-lines').first().waitFor();
    const colours = await until(() => page.locator('.view-line span[class*="mtk"]').count(), (count) => count > 20);
    check(`there are colours ${isTrusted ? 'with' : 'without'} trust`, colours > 20, colours);
    // Long enough for what starts with trust.
    const calls = await until(() => fs.readFileSync(started, 'utf8'), Boolean, 15_000);
    check(`the program is ${isTrusted ? '' : 'not '}started`, Boolean(calls) === isTrusted, calls);
    await picture(isTrusted ? 'trusted' : 'restricted');
    if (!isTrusted) {
      await command('agentir: Show the graph');
      await page.locator('.notification-toast', { hasText: 'runs nothing in a workspace that is not trusted' }).waitFor();
      check('a command says why nothing is run', !fs.readFileSync(started, 'utf8'), 'it ran');
    }
    await page.close();
  }
} catch (error) {
  check('the workbench does what it is told', false, String(error));
  await picture('failed');
} finally {
  await browser.close();
  server.kill();
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit(failed ? 1 : 0);
