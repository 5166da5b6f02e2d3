import { join, parse } from 'node:path';
import { numbersOfPerson } from '../../../ledger/read/callee.ts';
import { readEvidenceKey } from '../../../ledger/read/evidence.ts';
import { withControl, type Control } from '../../../operations/control/control.ts';
import { makeEvidence, type EvidenceRequest } from '../../../operations/control/evidence.ts';
import { readServiceTime } from '../../../operations/control/service.ts';
import { readNumbers } from '../../../operations/control/suppress.ts';
import type { Bundle } from '../../../presentation/evidence/bundle.ts';
import { refuseOtherFile, writeWholeFile } from '../../../presentation/results/whole-file.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { plural } from '../../../shared/input/figures.ts';
import { parseInstant } from '../../../shared/input/times.ts';
import type { Io } from '../terminal/io.ts';
import { RowProgress } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';

const help = `
One signed archive for whoever has to answer for calls to one number: a page that reads without this program (summary.html), the calls, what
the row of the list said and claimed, the log, the rules of each campaign as they were, and what carillon verify finds about these calls. It
holds nothing of anybody else. What is not recorded is told so. The log tells that you asked for it.

Whoever gets it runs node check.mjs bundle.zip, which needs Node.js and nothing else. Make your key known before (carillon evidence key).

Examples:
  carillon evidence --number +12125550100 --out bundle.zip
  carillon evidence --person 4711 --since 2026-01-01T00:00:00Z --out bundle.zip
  carillon evidence --number +12125550100 --with-conversations --out bundle.zip
  carillon evidence key`;

interface Flags {
  number?: string;
  person?: string;
  region?: string;
  since?: string;
  out?: string;
  withConversations?: boolean;
}

const keyCommand = commandOf({
  name: 'key',
  says: 'Print the public key with which bundles of this database can be checked',
  json: 'print the key as JSON',
  examples: ['carillon evidence key --json'],
  run: (io) =>
    withControl(io, async ({ store }) => {
      const { publicKeyOf } = await import('../../../presentation/evidence/bundle.ts');
      const key = publicKeyOf(await readEvidenceKey(store));
      return { data: { key }, words: `${key}\n` };
    }),
});

export const evidenceCommand = (io: Io) => {
  const command = commandOf<Flags>({
    name: 'evidence',
    flags: [
      ['--number <number>', 'the number'],
      ['--person <id>', 'or your own id of the person: one archive for each number that lists have under it'],
      ['--region <country>', 'country of a number without +, such as US'],
      ['--since <instant>', 'leave out calls before, such as 2026-01-01T00:00:00Z'],
      ['--out <file>', 'the archive to write'],
      ['--with-conversations', 'add what was said, and recordings, as far as the service has them', false],
    ],
    json: 'print what was written as JSON',
    help,
    run: writeEvidence,
  })(io);
  return command.addCommand(keyCommand(io));
};

async function writeEvidence(io: Io, { number, person, region, since, out, withConversations = false }: Flags) {
  if ((number === undefined) === (person === undefined)) throw new UsageError('Write --number or --person, one of the two.');
  if (out === undefined) throw new UsageError('Write --out with the archive to write, such as --out bundle.zip.');
  const from = since === undefined ? null : parseInstant(since);
  if (since !== undefined && from === null)
    throw new UsageError(`--since is ${JSON.stringify(since)}; write an instant with its offset, such as 2026-01-01T00:00:00Z.`);
  return withControl(io, async (control) => {
    const numbers = number === undefined ? await numbersOfPerson(control.store.db, person ?? '') : readNumbers([number], region);
    if (numbers.length === 0) throw new UsageError(`No list has anybody under the id ${JSON.stringify(person)}.`);
    const paths = numbers.map((e164) => (numbers.length === 1 ? out : pathOf(out, e164)));
    for (const path of paths) {
      // A bundle starts with its page.
      const isEarlier = (begin: string) => begin.startsWith('PK\u0003\u0004') && begin.slice(0, 2_000).includes('summary.html');
      await refuseOtherFile(path, { what: 'bundle', isEarlier });
    }
    const now = await readServiceTime(control);
    const bundles: Told[] = [];
    for (const [at, e164] of numbers.entries())
      bundles.push(await writeBundle(io, control, { e164, since: from, now, by: 'the command line', withConversations }, paths[at] ?? out));
    const several = `Lists have ${numbers.length} numbers under this id: each has a bundle of its own, which tells nothing of the others.\n`;
    return {
      data: { bundles },
      words: bundles
        .map(
          ({ path, bytes, calls, rows }) =>
            `${plural(calls, 'call')} in ${plural(rows, 'row')}: ${path} (${Math.ceil(bytes / 1000)} KB).\n`,
        )
        .join(''),
      aside: [...(numbers.length > 1 ? [several] : []), ...bundles.flatMap(warningsOf)].join(''),
    };
  });
}

interface Told extends Omit<Bundle, 'bytes' | 'rows'> {
  path: string;
  number: string;
  bytes: number;
  rows: number;
}

async function writeBundle(io: Io, control: Control, request: EvidenceRequest, path: string): Promise<Told> {
  const progress = new RowProgress(io, 'of the log read');
  const { makeBundle } = await import('../../../presentation/evidence/bundle.ts');
  const bundle = await makeEvidence(control, request, (query, conversations) =>
    makeBundle(control.store, query, { conversations, onProgress: (events) => progress.update(events) }).finally(() => progress.clear()),
  );
  const { bytes, rows, ...facts } = bundle;
  await writeWholeFile(path, (async function* () { yield bytes; })()); // prettier-ignore
  return { path, number: request.e164, bytes: bytes.length, rows: rows.length, ...facts };
}

/** `bundle-12125550100.zip`, when a person has several numbers. */
function pathOf(out: string, e164: string): string {
  const { dir, name, ext } = parse(out);
  return join(dir, `${name}-${e164.slice(1)}${ext}`);
}

function warningsOf({ number, ids, otherNumbers, findings }: Told): string[] {
  return [
    ...(ids.length > 1 ? [`Lists have ${number} under ${ids.length} ids: it may have passed from one person to another.\n`] : []),
    ...(otherNumbers > 0 ? [`Lists have ${plural(otherNumbers, 'other number')} under the same id; a bundle has one number.\n`] : []),
    ...(findings > 0 ? [`carillon verify finds ${plural(findings, 'broken promise')} about these calls; the bundle names them.\n`] : []),
  ];
}
