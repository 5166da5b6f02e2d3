import { withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { readRecipientNumbers, readNumbers } from '../../../operations/control/suppress.ts';
import { purposeWord } from '../../../campaign/file/settings/consent.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { plural } from '../../../shared/input/figures.ts';
import { parseInstant } from '../../../shared/input/times.ts';
import { commandOf, groupOf } from '../terminal/command.ts';
import { putOnList, takeOffList } from './numbers.ts';

const help = `
Consent itself stands in the list (consent: of the campaign file). Here people take it back. It holds from then on for every campaign with
that purpose, and for those that name none, calls that are planned included; an older consent in a list does not lift it.

Examples:
  carillon consent revoke +12125550100 --purpose marketing --reason "said so by mail"
  carillon consent revoke --person 4711
  carillon consent renew +12125550100 --purpose marketing --given 2026-11-27T10:00:00Z
  carillon suppress list --json`;

const regionFlag = ['--region <country>', 'country of numbers without +, such as US'] as const;

interface RevokeFlags {
  purpose?: string;
  person?: string;
  region?: string;
  reason?: string;
}

export const consentCommand = groupOf({ name: 'consent', help }, [
  commandOf<RevokeFlags, string[]>({
    name: 'revoke',
    says: 'Note that people take back consent, for one purpose or to any call',
    argument: ['[numbers...]', 'phone numbers'],
    flags: [
      ['--purpose <word>', 'purpose, as the campaign file has it (default: any; the numbers are not called at all)'],
      ['--person <id>', 'every number that any list has under this id of yours'],
      regionFlag,
      ['--reason <text>', 'reason, recorded for later'],
    ],
    json: 'print the counts as JSON',
    changes: true,
    examples: ['carillon consent revoke +12125550100 --purpose marketing'],
    run: (io, { purpose, person, region, reason, key }, texts) => {
      if ((texts.length === 0) === (person === undefined))
        throw new UsageError('Write the numbers, or --person with an id; one of the two.');
      const word = purpose === undefined ? undefined : readPurpose(purpose);
      return withControl(
        io,
        async (control) => {
          const numbers = await readRecipientNumbers(control, { numbers: texts, person, region });
          // The person is the key's content: the numbers may have changed when it is repeated.
          const keyed = { key, written: { texts, person, region, purpose: word, reason } };
          const { added, known } = await putOnList(control, numbers, { purpose: word, reason, expiresAt: null }, keyed);
          const what = word === undefined ? 'any call' : `calls for ${word}`;
          const words = `${plural(numbers.length, 'number')}: consent to ${what} is taken back.\n`;
          return { data: { numbers: numbers.length, added, known }, words };
        },
        openLedger,
      );
    },
  }),
  commandOf<{ purpose?: string; given?: string; region?: string }, string[]>({
    name: 'renew',
    says: 'Note a consent that was given after the last one was taken back',
    argument: ['<numbers...>', 'phone numbers'],
    flags: [
      ['--purpose <word>', 'purpose for which it was taken back'],
      ['--given <instant>', 'when it was given, such as 2026-11-27T10:00:00Z'],
      regionFlag,
    ],
    changes: true,
    json: 'print the counts as JSON',
    help: `
The list must tell of the newer consent as well, where the campaign asks for it. Numbers whose consent was taken back later are refused.`,
    examples: ['carillon consent renew +12125550100 --purpose marketing --given 2026-11-27T10:00:00Z'],
    run: async (io, { purpose, given, region, key }, texts) => {
      if (purpose === undefined) throw new UsageError('Write --purpose with the word for which consent was taken back.');
      const consentedAt = parseInstant(given) ?? undefined;
      if (consentedAt === undefined)
        throw new UsageError('Write --given with the time at which it was given and its offset, such as 2026-11-27T10:00:00Z.');
      const [word, numbers] = [readPurpose(purpose), readNumbers(texts, region)];
      const { removed, unknown } = await withControl(io, (control) =>
        takeOffList(control, numbers, { purpose: word, consentedAt }, { key }),
      );
      const aside = unknown > 0 ? `${plural(unknown, 'number has', 'numbers have')} taken back none for ${word}.\n` : '';
      return { data: { removed, unknown }, words: `${plural(removed, 'number')} may be called for ${word} again.\n`, aside };
    },
  }),
]);

function readPurpose(text: string): string {
  const read = purposeWord.safeParse(text);
  if (read.success) return read.data;
  throw new UsageError(`--purpose is ${JSON.stringify(text)}; ${read.error.issues[0]?.message ?? 'write a word'}.`);
}
