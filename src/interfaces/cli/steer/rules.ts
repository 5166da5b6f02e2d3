import { withControl, type Control } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { accountScope } from '../../../ledger/rows/suppressions.ts';
import { readAccountRules, setAccountRules, type AccountRulesChange } from '../../../operations/control/adjust.ts';
import { limitOperations as operations } from '../../../operations/limits.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { accountRuleLines } from '../../../presentation/words/house.ts';
import { plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { instantText, withInstants } from '../../../shared/input/times.ts';
import { mayBegin } from '../terminal/answer.ts';
import { commandOf, groupOf } from '../terminal/command.ts';

const help = `
House rules hold for every campaign of the database besides its own, for calls that are planned already, too. The stricter of the two
binds, and no campaign file can loosen them. What a file may say:

  hours: { mon: "09:00-18:00", tue: "09:00-18:00" }   # in the recipient's time; a day left out is closed
  holidays: [US, "2030-12-24"]
  caps: [{ calls: 3, within: 7d }, { by: person, after_talk: 30d }]
  caller_limits: { per_hour: 20, per_day: 80 }
  consent: required                                   # in the campaign file
  opt_out: required

Examples:
  carillon rules set house.yaml --dry-run
  carillon rules set house.yaml
  carillon rules show
  carillon rules lift`;

const dryRun = ['-n, --dry-run', 'say what would come of it, and change nothing', false] as const;

export const rulesCommand = groupOf({ name: 'rules', help }, [
  commandOf({
    name: 'show',
    says: operations.showHouseRules.says,
    json: 'print the rules, and the versions before them, as JSON',
    examples: ['carillon rules show --json'],
    run: (io) =>
      withControl(io, async (control) => {
        const view = await readAccountRules(control);
        const { now, before } = view;
        if (now === null) return { data: view, words: 'There are no house rules: each campaign is held to its own file and the law.\n' };
        const lines = accountRuleLines(now.rules).map((line) => `  ${printable(line)}.\n`);
        const holds = now.rules === null ? 'lifts the house rules' : 'of the house rules holds for all campaigns';
        const earlier = before.length === 0 ? '' : `${plural(before.length, 'version')} before it.\n`;
        const words = `Version ${now.version} ${holds}, since ${instantText(now.setAt)}.\n${lines.join('')}${earlier}`;
        return { data: withInstants(view), words };
      }),
  }),
  commandOf<{ dryRun: boolean }>({
    name: 'set',
    says: operations.setHouseRules.says,
    argument: ['<house.yaml>', 'file of house rules'],
    flags: [dryRun],
    json: 'print what was changed as JSON',
    help: '\nRepeating it changes nothing. Campaigns under way that lack what it requires pause.',
    examples: ['carillon rules set house.yaml'],
    run: (io, { dryRun: isTrial }, path) =>
      withControl(io, async (control) => formatChange(await set(control, { path, dryRun: isTrial }), isTrial), openLedger),
  }),
  commandOf({
    name: 'lift',
    says: 'Lift the house rules: each campaign is held to its own file and the law alone',
    asks: true,
    json: 'print what was changed as JSON',
    examples: ['carillon rules lift'],
    run: async (io, { yes }) => {
      if (!(await mayBegin(io, yes, 'Lift the house rules for all campaigns of this database?'))) return null;
      return withControl(io, async (control) =>
        formatChange(await set(control, { path: 'house.yaml', text: '{}\n', dryRun: false }), false),
      );
    },
  }),
]);

/** The file keeps the name that a person has written. */
const set = (control: Control, rules: Parameters<typeof setAccountRules>[1]) =>
  performHere(control, 'setHouseRules', { body: rules }, { log: accountScope, run: () => setAccountRules(control, rules) });

function formatChange(change: AccountRulesChange, isTrial: boolean) {
  const { changed, version, lacking, notice: unnotified } = change;
  const holds = !changed
    ? 'The house rules say so already; nothing was changed.'
    : isTrial
      ? `Version ${version} would hold from now on.`
      : `Version ${version} of the house rules holds for every call from now on.`;
  const pauses = lacking.map(
    ({ campaignId, lacks }) => `  ${campaignId} ${isTrial ? 'would pause' : 'pauses'}: it has no ${lacks.join(' and no ')}.\n`,
  );
  const notification = { told: unnotified === null, ...unnotified };
  const warning = unnotified && { aside: `Campaign ${unnotified.campaignId} sees it at its next look: ${unnotified.why}\n` };
  return { data: { ...change, notice: notification }, words: `${holds}\n${changed ? pauses.join('') : ''}`, ...warning };
}
