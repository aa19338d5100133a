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

async function start(context) {
  const command = program(context);
  const server = { command, args: ['lsp'], transport: TransportKind.stdio };
  client = new LanguageClient('agentir', 'agentir', server, {
    documentSelector: SELECTOR,
    initializationOptions: { ...settings(), commands: COMMANDS },
    synchronize: { configurationSection: 'agentir' },
  });
  // The contents of `agentir:` documents are the server's.
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.workspace = { ...capabilities.workspace, textDocumentContent: {} };
    },
    initialize: () => {},
    getState: () => ({ kind: 'static' }),
    clear: () => {},
  });
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `agentir does not start: ${error.message ?? error}`,
      'Open settings',
    );
    if (choice) vscode.commands.executeCommand('workbench.action.openSettings', 'agentir.path');
  }
}

// Runs the program in a terminal.
function inTerminal(context, args) {
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

// The graphs that are shown, by the file that they were asked for.
const graphs = new Map();

const SEVERITIES = ['error', 'warning', 'info', 'info'];

// The graph beside the text, as `agentir graph` draws it of the saved files. It is drawn again when a file is saved.
function showGraph(context, uri) {
  const file = fileOf(uri);
  if (!file) return;
  const known = graphs.get(file);
  if (known) {
    known.reveal();
    return;
  }
  const panel = vscode.window.createWebviewPanel(
    'agentir.graph',
    `Graph of ${path.basename(file)}`,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
    { enableScripts: true, localResourceRoots: [] },
  );
  graphs.set(file, panel);
  panel.onDidDispose(() => graphs.delete(file));
  panel.webview.onDidReceiveMessage((message) => {
    if (message.ready) {
      tellFindings(panel);
      tellCursor(panel, vscode.window.activeTextEditor);
    } else if (typeof message.open === 'string') {
      open(message.open);
    }
  });
  drawGraph(context, file, panel);
}

function drawGraph(context, file, panel) {
  execFile(program(context), ['graph', '--format', 'html', file], { maxBuffer: 1 << 26 }, (error, out, said) => {
    if (graphs.get(file) !== panel) return;
    if (out) panel.webview.html = out;
    else vscode.window.setStatusBarMessage(`There is no graph: ${said || error}`, 10_000);
  });
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

function tellCursor(panel, editor) {
  if (editor?.document.uri.scheme !== 'file') return;
  const line = editor.selection.active.line + 1;
  panel.webview.postMessage({ cursor: { file: editor.document.uri.fsPath, line } });
}

function tellFindings(panel) {
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
  const made = await client.sendRequest('workspace/executeCommand', {
    command: 'agentir.convert',
    arguments: [{ uri, target }],
  });
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
  const content = await client.sendRequest('workspace/executeCommand', {
    command: 'agentir.explain',
    arguments: [{ rule }],
  });
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
  on('agentir.restart', async () => {
    await client?.stop();
    await start(context);
  });
  on('agentir.showGraph', (uri) => showGraph(context, uri));
  context.subscriptions.push(
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) =>
      graphs.forEach((panel) => tellCursor(panel, textEditor)),
    ),
    vscode.languages.onDidChangeDiagnostics(() => graphs.forEach(tellFindings)),
    vscode.workspace.onDidSaveTextDocument(() =>
      graphs.forEach((panel, file) => drawGraph(context, file, panel)),
    ),
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
  // Without trust nothing is run: a workspace could bring its own program.
  if (vscode.workspace.isTrusted) {
    await start(context);
  } else {
    context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => start(context)));
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
