import type { LedgerFindings } from '../../../campaign/preflight/callable-rows.ts';
import type { ListRow } from '../../../list/recipients.ts';
import { partsOf } from '../../../ledger/parts.ts';
import type { CampaignRules, AccountRules } from '../../../rules/campaign-rules.ts';
import { withAccountRules } from '../../../rules/house-rules.ts';
import { linesOf, readAccount } from '../../../ledger/limits/account-pace.ts';
import { readBudgets, readCaps } from '../../../ledger/limits/placed-calls.ts';
import { describeLocation } from '../../../ledger/open-ledger.ts';
import { readLatestAccountRules } from '../../../ledger/limits/house.ts';
import { countImportedEndings, findSuppressed, type Suppressed } from '../../../ledger/rows/suppressions.ts';
import { plural } from '../../../shared/input/figures.ts';
import { accountIdOf } from '../service.ts';
import type { NotAsked } from './service.ts';
import type { LedgerAccess } from '../ledger.ts';
import { personOf } from '../../../rules/row-terms.ts';
import type { Store } from '../../../ledger/tx.ts';

/** Source of do-not-call list and earlier calls, or why they could not be read. */
export type LedgerState =
  | {
      asked: true;
      database: string;
      /** Maximum open calls of the account; null: no own limit. */
      accountLines: number | null;
    }
  | NotAsked;

/** Read-only view of a database for `check`. */
export interface CheckedLedger {
  state: LedgerState;
  /** Null: none. */
  house: AccountRules | null;
  warnings: string[];
  /** Null without a database. */
  look(rows: readonly ListRow[]): Promise<LedgerFindings | null>;
  close(): Promise<void>;
}

/** SQLite limits the values of a statement. */
const rowsPerQuestion = 500;

export interface CheckedCampaign {
  campaignId: string;
  rules: CampaignRules;
  /** Epoch ms of its start. */
  at: number;
}

/** `close` leaves the database open. */
export async function checkedLedger({ config, store }: LedgerAccess, campaign: CheckedCampaign): Promise<CheckedLedger> {
  const database = describeLocation({ databaseUrl: config.DATABASE_URL, sqlitePath: config.CARILLON_DB });
  const accountLines = linesOf(await readAccount(store.db, accountIdOf(config)));
  const house = await readLatestAccountRules(store.db);
  const held = { ...campaign, rules: withAccountRules(campaign.rules, house) };
  return {
    state: { asked: true, database, accountLines },
    house,
    warnings: await endingImports(store, campaign),
    look: (rows) => readFindings(store, held, rows),
    close: () => Promise.resolve(),
  };
}

/** For a check that reads neither service nor database. */
export function uncheckedLedger(state: NotAsked): CheckedLedger {
  return { state, house: null, warnings: [], look: () => Promise.resolve(null), close: () => Promise.resolve() };
}

const dayMs = 24 * 3_600_000;

/** A number whose imported entry expired is called again, without another warning. */
async function endingImports(store: Store, { campaignId, at }: CheckedCampaign): Promise<string[]> {
  const ended = await countImportedEndings(store.db, campaignId, { from: at - 31 * dayMs, to: at });
  const ending = await countImportedEndings(store.db, campaignId, { from: at, to: at + 7 * dayMs });
  const warningsOf = (entries: number, when: string): string[] =>
    entries === 0
      ? []
      : [
          `${plural(entries, 'imported entry', 'imported entries')} of the do-not-call list ${when} and then ${entries === 1 ? 'keeps' : 'keep'} nobody from being called: import the list again, without --expires`,
        ];
  const [run, has] = [ending === 1 ? 'runs' : 'run', ended === 1 ? 'has' : 'have'];
  return [
    ...warningsOf(ended, `${has} run out in the 31 days before the start`),
    ...warningsOf(ending, `${run} out within 7 days after the start`),
  ];
}

async function readFindings(store: Store, { campaignId, rules, at }: CheckedCampaign, rows: readonly ListRow[]): Promise<LedgerFindings> {
  const accepted = rows.filter((row) => row.verdict === 'accepted');
  const suppressed = new Map<string, Suppressed>();
  for (const part of partsOf(accepted, rowsPerQuestion)) {
    const numbers = part.map(({ e164 }) => e164);
    const found = await findSuppressed(store.db, { campaignId, purpose: rules.purpose, now: at }, numbers);
    for (const [number, why] of found) suppressed.set(number, why);
  }
  const recipients = accepted.map((row) => {
    const { e164, country, regions } = row;
    return { e164, person: personOf(row), place: { country, regions } };
  });
  const capsAllowAt = await readCaps(store.db, rules, { callees: recipients, now: at });
  // Before the first attempt only the number's own budget can be used.
  const budgeted = recipients.map(({ e164 }) => ({ recipientId: '', e164, counted: 0, budgetFrom: 0 }));
  const budgetAllowsAt = await readBudgets(store.db, rules.retry, { recipients: budgeted, now: at });
  return {
    suppressed,
    capsAllowAt,
    budgetAllowsAt: ({ e164 }) => budgetAllowsAt({ recipientId: '', e164, counted: 0, budgetFrom: 0 }),
  };
}
