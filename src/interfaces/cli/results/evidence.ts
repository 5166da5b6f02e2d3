import { numbersOfPerson } from '../../../ledger/read/callee.ts';
import { readEvidenceKey } from '../../../ledger/read/evidence.ts';
import { withControl } from '../../../operations/control/control.ts';
import { makeEvidence } from '../../../operations/control/evidence.ts';
import { readServiceTime } from '../../../operations/control/service.ts';
import { readNumbers } from '../../../operations/control/suppress.ts';
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
  run: (io) =>
    withControl(io, async ({ store }) => {
      const { publicKeyOf } = await import('../../../presentation/evidence/bundle.ts');
      const key = publicKeyOf(await readEvidenceKey(store));
      return { data: { key }, words: `${key}\n` };
    }),
});

/** `carillon evidence`: what is known of the calls to one number, signed. */
export const evidenceCommand = (io: Io) => {
  const command = commandOf<Flags>({
    name: 'evidence',
    flags: [
      ['--number <number>', 'the number'],
      ['--person <id>', 'or your own id of the person, where lists have one number under it'],
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
  // The page stands first in a bundle.
  await refuseOtherFile(out, {
    what: 'bundle',
    isEarlier: (begin) => begin.startsWith('PK\u0003\u0004') && begin.includes('summary.html'),
  });
  return withControl(io, async (control) => {
    const numbers = number === undefined ? await numbersOfPerson(control.store.db, person ?? '') : readNumbers([number], region);
    const [e164, ...others] = numbers;
    if (e164 === undefined) throw new UsageError(`No list has anybody under the id ${JSON.stringify(person)}.`);
    if (others.length > 0)
      throw new UsageError(`Lists have ${numbers.length} numbers under this id. Write --number, and make a bundle of each.`);
    const progress = new RowProgress(io, 'of the log read');
    const { makeBundle } = await import('../../../presentation/evidence/bundle.ts');
    const wish = { e164, since: from, now: await readServiceTime(control), by: 'the command line', withConversations };
    const bundle = await makeEvidence(control, wish, (asked, conversations) =>
      makeBundle(control.store, asked, { conversations, onProgress: (events) => progress.update(events) }).finally(() => progress.clear()),
    );
    await writeWholeFile(out, (async function* () { yield bundle.bytes; })()); // prettier-ignore
    const { bytes, calls, ids, otherNumbers, findings } = bundle;
    const rows = bundle.rows.length;
    const warnings = [
      ...(ids.length > 1 ? [`Lists have this number under ${ids.length} ids: it may have passed from one person to another.\n`] : []),
      ...(otherNumbers > 0 ? [`Lists have ${plural(otherNumbers, 'other number')} under the same id; a bundle has one number.\n`] : []),
      ...(findings > 0 ? [`carillon verify finds ${plural(findings, 'broken promise')} about these calls; the bundle names them.\n`] : []),
    ];
    return {
      data: { path: out, bytes: bytes.length, rows, calls, ids, otherNumbers, findings },
      words: `${plural(calls, 'call')} in ${plural(rows, 'row')}: ${out} (${Math.ceil(bytes.length / 1000)} KB).\n`,
      aside: warnings.join(''),
    };
  });
}
