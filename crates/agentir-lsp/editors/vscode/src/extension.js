// Starts `agentir lsp`, and has the commands that only an editor can run.

const { execFile } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

const SELECTOR = [
  { language: 'abl' },
  { language: 'agentscript' },
  { language: 'yaml' },
  { language: 'python', scheme: 'file' },
  { scheme: 'file', pattern: '**/agentir.toml' },
];

// What the server offers as lenses and actions.
const COMMANDS = [
  'agentir.talk',
  'agentir.test',
  'agentir.showGraph',
  'agentir.showFindings',
  'agentir.convertTo',
];

const PROGRAM = process.platform === 'win32' ? 'agentir.exe' : 'agentir';

// The program: of the settings, in this package, in the environment of the workspace, on the path.
function program(context) {
  const named = vscode.workspace.getConfiguration('agentir').get('path');
  if (named) return named;
  const within = path.join(context.extensionPath, 'bin', PROGRAM);
  if (fs.existsSync(within)) return within;
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const scripts = process.platform === 'win32' ? 'Scripts' : 'bin';
    for (const place of [['.venv', scripts], ['node_modules', '.bin']]) {
      const found = path.join(folder.uri.fsPath, ...place, PROGRAM);
      if (fs.existsSync(found)) return found;
    }
  }
  return PROGRAM;
}

function settings() {
  const all = vscode.workspace.getConfiguration('agentir');
  return {
    select: all.get('select'),
    ignore: all.get('ignore'),
    baseline: all.get('baseline') ?? undefined,
  };
}

// Starts and stops happen one after the other.
let turn = Promise.resolve();

function inTurn(run) {
  turn = turn.then(run, run);
  return turn;
}

async function start(context) {
  const command = program(context);
  const server = { command, args: ['lsp'], transport: TransportKind.stdio };
  const started = new LanguageClient('agentir', 'agentir', server, {
    documentSelector: SELECTOR,
    initializationOptions: { ...settings(), commands: COMMANDS },
    synchronize: { configurationSection: 'agentir' },
  });
  // The contents of `agentir:` documents are the server's.
  started.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.workspace = { ...capabilities.workspace, textDocumentContent: {} };
    },
    initialize: () => {},
    getState: () => ({ kind: 'static' }),
    clear: () => {},
  });
  try {
    await started.start();
    client = started;
  } catch (error) {
    // Nothing waits until somebody has read this.
    vscode.window
      .showErrorMessage(`agentir does not start: ${error.message ?? error}`, 'Open settings')
      .then((choice) => {
        if (choice) vscode.commands.executeCommand('workbench.action.openSettings', 'agentir.path');
      });
  }
}

async function stop() {
  const running = client;
  client = undefined;
  try {
    await running?.stop();
  } catch {
    // It has ended already.
  }
}

// Asks the server to do something.
function ask(command, argument) {
  if (!client) throw new Error('the server of agentir does not run; `agentir: Restart the server` starts it');
  return client.sendRequest('workspace/executeCommand', { command, arguments: [argument] });
}

// Whether programs may be run: a workspace that nobody trusts could bring its own.
function mayRun() {
  if (vscode.workspace.isTrusted) return true;
  vscode.window.showInformationMessage('agentir runs nothing in a workspace that is not trusted.');
  return false;
}

// Runs the program in a terminal.
function inTerminal(context, args) {
  if (!mayRun()) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const terminal = vscode.window.createTerminal({
    name: `agentir ${args[0]}`,
    cwd: folder,
    shellPath: program(context),
    shellArgs: args,
  });
  terminal.show();
}

function fileOf(uri) {
  const given = uri ? vscode.Uri.parse(uri.toString()) : vscode.window.activeTextEditor?.document.uri;
  if (!given || given.scheme !== 'file') {
    vscode.window.showInformationMessage('Open an agent that is saved as a file.');
    return undefined;
  }
  return given.fsPath;
}

// The graphs that are shown, by the file that they were asked for: a panel, what draws it, and whether something was drawn.
const graphs = new Map();

const SEVERITIES = ['error', 'warning', 'info', 'info'];

// The graph beside the text, as `agentir graph` draws it of the saved files. It is drawn again when a file is saved.
function showGraph(context, uri) {
  const file = fileOf(uri);
  if (!file || !mayRun()) return;
  const known = graphs.get(file);
  if (known) {
    known.panel.reveal();
    return;
  }
  const panel = vscode.window.createWebviewPanel(
    'agentir.graph',
    `Graph of ${path.basename(file)}`,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
    { enableScripts: true, localResourceRoots: [] },
  );
  const graph = { panel, drawing: undefined, isDrawn: false };
  graphs.set(file, graph);
  panel.onDidDispose(() => {
    graphs.delete(file);
    graph.drawing?.kill();
  });
  panel.webview.onDidReceiveMessage((message) => {
    if (message.ready) {
      tellFindings(graph);
      // Where the panel has the focus, no text has it.
      tellCursor(graph, vscode.window.activeTextEditor ?? editorOf(file));
    } else if (typeof message.open === 'string') {
      open(message.open).catch((error) =>
        vscode.window.showErrorMessage(`${message.open} cannot be opened: ${error.message ?? error}`),
      );
    }
  });
  drawGraph(context, file, graph);
}

function editorOf(file) {
  return vscode.window.visibleTextEditors.find((one) => one.document.uri.fsPath === file);
}

// What is drawn of an older text is not shown: what draws it ends.
function drawGraph(context, file, graph) {
  graph.drawing?.kill();
  const options = { maxBuffer: 1 << 28 };
  const drawing = execFile(program(context), ['graph', '--format', 'html', file], options, (error, out, said) => {
    if (graphs.get(file) !== graph || graph.drawing !== drawing) return;
    graph.drawing = undefined;
    if (!error) {
      graph.isDrawn = true;
      graph.panel.webview.html = out;
      return;
    }
    const why = said || error.message;
    // A picture of the last text that could be drawn is better than none.
    if (graph.isDrawn) vscode.window.setStatusBarMessage(`The graph is not drawn again: ${why}`, 10_000);
    else graph.panel.webview.html = `<!doctype html><meta charset="utf-8"><p>There is no graph yet.</p><pre>${escaped(why)}</pre>`;
  });
  graph.drawing = drawing;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

// Opens a place of a graph: `file:line:column`, whose column counts characters.
async function open(place) {
  const parts = /^(.*):(\d+):(\d+)$/.exec(place);
  if (!parts) return;
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(parts[1]));
  const line = document.lineAt(Math.min(Number(parts[2]), document.lineCount) - 1);
  const before = [...line.text].slice(0, Number(parts[3]) - 1).join('');
  const at = new vscode.Position(line.lineNumber, before.length);
  const shown = vscode.window.visibleTextEditors.find((one) => one.document === document);
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(at, at),
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
  });
}

function tellCursor({ panel }, editor) {
  if (editor?.document.uri.scheme !== 'file') return;
  const line = editor.selection.active.line + 1;
  panel.webview.postMessage({ cursor: { file: editor.document.uri.fsPath, line } });
}

function tellFindings({ panel }) {
  const findings = vscode.languages.getDiagnostics().flatMap(([uri, all]) =>
    all
      .filter((one) => one.source === 'agentir' && uri.scheme === 'file')
      .map((one) => ({
        file: uri.fsPath,
        line: one.range.start.line + 1,
        severity: SEVERITIES[one.severity],
        message: one.message,
      })),
  );
  panel.webview.postMessage({ findings });
}

// A program in another language, each file as a document that is not saved.
async function convertTo({ uri, target }) {
  const made = await ask('agentir.convert', { uri, target });
  for (const file of made.files) {
    const language = file.path.endsWith('.agent') ? 'agentscript' : file.path.endsWith('.abl') ? 'abl' : 'yaml';
    const document = await vscode.workspace.openTextDocument({ content: file.text, language });
    await vscode.window.showTextDocument(document, { preview: false, viewColumn: vscode.ViewColumn.Beside });
  }
  const report = JSON.stringify(made.report, null, 2);
  const document = await vscode.workspace.openTextDocument({ content: report, language: 'json' });
  await vscode.window.showTextDocument(document, { preview: false, viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
}

async function explainRule() {
  const names = new Set();
  for (const [, found] of vscode.languages.getDiagnostics()) {
    for (const one of found) {
      if (one.source === 'agentir') names.add(typeof one.code === 'object' ? one.code.value : one.code);
    }
  }
  const rule = await vscode.window.showQuickPick([...names].sort(), { title: 'The rules of what was found' });
  if (!rule) return;
  const content = await ask('agentir.explain', { rule });
  const document = await vscode.workspace.openTextDocument({ content, language: 'markdown' });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside });
}

async function activate(context) {
  const on = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  // Pages of rules, which findings link to.
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider('agentir', {
      provideTextDocumentContent: (uri) =>
        client
          ?.sendRequest('workspace/textDocumentContent', { uri: uri.toString() })
          .then((content) => content.text),
    }),
  );
  on('agentir.restart', () => {
    if (!mayRun()) return undefined;
    return inTurn(async () => {
      await stop();
      await start(context);
    });
  });
  on('agentir.showGraph', (uri) => showGraph(context, uri));
  context.subscriptions.push(
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) =>
      graphs.forEach((graph) => tellCursor(graph, textEditor)),
    ),
    vscode.languages.onDidChangeDiagnostics(() => graphs.forEach((graph) => tellFindings(graph))),
    vscode.workspace.onDidSaveTextDocument((document) => {
      if (vscode.languages.match(SELECTOR, document) > 0 || document.languageId === 'json') {
        graphs.forEach((graph, file) => drawGraph(context, file, graph));
      }
    }),
  );
  on('agentir.showFindings', () => vscode.commands.executeCommand('workbench.actions.view.problems'));
  on('agentir.convertTo', convertTo);
  on('agentir.explainRule', explainRule);
  on('agentir.checkProject', () => inTerminal(context, ['check', '.']));
  on('agentir.talk', (uri) => {
    const file = fileOf(uri);
    if (file) inTerminal(context, ['run', file]);
  });
  on('agentir.test', (uri) => {
    const file = fileOf(uri);
    if (file) inTerminal(context, ['test', path.dirname(file)]);
  });
  // Without trust nothing is run.
  if (vscode.workspace.isTrusted) {
    await inTurn(() => start(context));
  } else {
    context.subscriptions.push(
      vscode.workspace.onDidGrantWorkspaceTrust(() => inTurn(() => start(context))),
    );
  }
}

function deactivate() {
  return inTurn(stop);
}

module.exports = { activate, deactivate };
