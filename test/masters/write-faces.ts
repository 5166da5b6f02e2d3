import { fetch } from 'undici';
import type { Command } from 'commander';
import { commands } from '../../src/interfaces/cli/commands.ts';
import { createTerminal } from '../interfaces/cli/terminal.ts';
import { runWith } from '../interfaces/cli/service-world.ts';
import { fillSandbox, startPageSandbox } from '../sandbox/page/window.ts';
import { nameOf, splitTags, type Write } from './write-masters.ts';

export async function writeHelp(write: Write): Promise<void> {
  const walk = async (path: string[], command: Command): Promise<void> => {
    const { code, stdout, stderr } = await runWith([...path, '--help'], {}, {});
    write(`${path.join('-')}.txt`, `exit ${code}\n${stdout}${stderr}`);
    for (const inner of command.commands) await walk([...path, inner.name()], inner);
  };
  const { stdout } = await runWith(['--help'], {}, {});
  write('carillon.txt', stdout);
  for (const { name, load } of commands) await walk([name], (await load())(createTerminal()));
}

export async function writeSandbox(write: Write): Promise<void> {
  const sandbox = await startPageSandbox();
  const views = await fillSandbox(sandbox);
  for (const [index, path] of ['/', ...views].entries()) {
    const response = await fetch(new URL(path, sandbox.url), { headers: { accept: 'text/html' } });
    write(`page-${index + 1}.html`, `${response.status} ${path}\n${splitTags(await response.text())}`);
  }
  for (const path of ['/openapi.json', '/_sandbox/openapi.json', '/_sandbox/calls', '/_sandbox/journal', '/_sandbox/conduct', '/v1/convai/agents', '/v1/convai/conversations', '/v1/convai/phone-numbers']) {
    const { status, body } = await sandbox.ask('GET', path);
    write(`${nameOf(path)}.json`, `${status}\n${JSON.stringify(body, null, 1)}`);
  } // prettier-ignore
}
