import { generateKeyPairSync } from 'node:crypto';
import { consentSpan } from '../../rules/consent.ts';
import { withoutAccountRules } from '../../rules/house-rules.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { lawFor } from '../../rules/hours/legal-hours.ts';
import type { CallerCheckAtCall } from '../limits/callers.ts';
import { actorOf, readEventsOf, toEvent, type CampaignEvent } from '../events.ts';
import { requireCampaign } from '../rows/campaigns.ts';
import { placeOf, termsOf } from '../rows/row-terms.ts';
import { selectListed } from './callee.ts';
import { findEntries } from '../rows/suppressions.ts';
import type { AttemptRow, RecipientRow } from '../schema.ts';
import type { Queries, Store } from '../tx.ts';

/** Instants are epoch ms; null: not recorded. */
export type Evidence = NonNullable<Awaited<ReturnType<typeof readEvidence>>>;
export type EvidenceCampaign = Awaited<ReturnType<typeof readCampaign>>;
/** A list row that leads to the number, or did when it was called. */
export type EvidenceRow = Awaited<ReturnType<typeof readRow>>;
export type EvidenceCall = Awaited<ReturnType<typeof readCall>>;

/** Whether a call may have been placed: requested, and not given back. */
export function isPlaced({ requests, state }: Pick<EvidenceCall, 'requests' | 'state'>): boolean {
  return requests.length > 0 && state !== 'released';
}

const mostRows = 1_000;
const mostEvents = 20_000;

/** Everything stored about one number, and about no other recipient. Read-only. Null: nothing stored. */
export async function readEvidence(
  { db, ledgerId }: Pick<Store, 'db' | 'ledgerId'>,
  { e164, since, now }: { e164: string; since: number | null; now: number },
) {
  const attempts = await db.selectFrom('attempts').selectAll().where('e164', '=', e164).orderBy('planned_at').orderBy('number').execute();
  const called = [...new Set(attempts.map((attempt) => attempt.recipient_id))];
  const recipients = await selectListed(db)
    .where((eb) => (called.length === 0 ? eb('e164', '=', e164) : eb.or([eb('e164', '=', e164), eb('recipient_id', 'in', called)])))
    .orderBy('campaigns.created_at')
    .orderBy('recipients.row_number')
    .limit(mostRows)
    .execute();
  const suppressions = await findEntries(db, [e164]);
  if (recipients.length === 0 && suppressions.length === 0) return null;
  const inTime = attempts.filter(({ posted_at: at }) => since === null || at === null || at >= since);
  const campaigns = new Map<string, EvidenceCampaign>();
  const rows: EvidenceRow[] = [];
  for (const recipient of recipients) {
    const { campaign_id: id } = recipient;
    const campaign = campaigns.get(id) ?? (await readCampaign(db, id));
    campaigns.set(id, campaign);
    const own = inTime.filter((attempt) => attempt.recipient_id === recipient.recipient_id);
    rows.push(await readRow(db, campaign, { recipient, attempts: own, e164 }));
  }
  const ids = [...new Set(recipients.flatMap((row) => (row.e164 === e164 ? (row.external_id ?? []) : [])))].sort();
  return {
    e164,
    madeAt: now,
    /** Calls requested earlier are left out; null: none. */
    sinceAt: since,
    ledgerId,
    /** Ids of the number in lists; `otherNumbers`: other numbers under these ids. */
    ids,
    otherNumbers: await countOthers(db, ids, e164),
    campaigns: [...campaigns.values()],
    rows,
    suppressions,
    events: await readEvents(db, { e164, recipients, own: new Set(attempts.map((attempt) => attempt.attempt_id)) }),
  };
}

async function readCampaign(db: Queries, id: string) {
  const { campaignId, name, rules: held, state } = await requireCampaign(db, id);
  const rules = withoutAccountRules(held);
  const found = db.selectFrom('campaigns').select(['file', 'file_hash', 'created_at']).where('campaign_id', '=', id);
  const { file, file_hash: fileHash, created_at: importedAt } = await found.executeTakeFirstOrThrow();
  /** `fileHash`: of the file's content and its list's bytes. `file` null: begun before files were stored. */
  return { campaignId, name, rules, state, fileHash, importedAt, file: file === null ? null : (JSON.parse(file) as unknown) };
}

async function readRow(
  db: Queries,
  { campaignId, rules }: EvidenceCampaign,
  { recipient, attempts, e164 }: { recipient: RecipientRow; attempts: readonly AttemptRow[]; e164: string },
) {
  const calls = await Promise.all(attempts.map((attempt) => readCall(db, attempt)));
  const { row_number: row, recipient_id: recipientId, external_id: externalId, outcome, reason } = recipient;
  const { zones, country, regions, consentedAt = null } = termsOf(recipient);
  const written = JSON.parse(recipient.cells) as string[];
  const cells = written.map((value, index) => ({ column: rules.list.columns[index] ?? `${index + 1}`, value }));
  const cell = (column: string | null) => (column === null ? null : (cells.find((each) => each.column === column)?.value ?? null));
  const span = consentSpan(rules.consent, consentedAt);
  /** Verbatim, and when it applied; null: the campaign requires none. */
  const consent =
    rules.consent === undefined || span === undefined
      ? null
      : {
          at: cell(rules.consent.atColumn),
          source: rules.consent.sourceOfList ?? cell(rules.consent.sourceColumn),
          text: rules.consent.textOfList ?? cell(rules.consent.textColumn),
          proof: cell(rules.consent.proofColumn),
          purpose: cell(rules.consent.purposeColumn),
          beginsAt: span.from,
          endsAt: span.until,
        };
  /** Laws that apply to the row, as frozen, with source and look-up date. */
  const law = lawFor(rules, placeOf(recipient)).map(({ id, source, asOf = null }) => ({ id, source, asOf }));
  const theirs = { externalId, cells, zones, country, regions, consent, outcome, reason, law };
  return { campaignId, row, recipientId, ...(recipient.e164 === e164 ? theirs : redactedFields), calls };
}

/** For a row that now leads to another number. */
const redactedFields = { externalId: null, cells: null, zones: [], country: null, regions: null, consent: null, outcome: null, reason: null, law: [] }; // prettier-ignore

async function readCall(db: Queries, attempt: AttemptRow) {
  const { batch_id: batchId, campaign_id: campaignId } = attempt;
  const { caller: id } = await db.selectFrom('batches').select('caller').where('batch_id', '=', batchId).executeTakeFirstOrThrow();
  const callers = db.selectFrom('callers').selectAll().where('campaign_id', '=', campaignId);
  const caller = await callers.where('phone_number_id', '=', id).executeTakeFirst();
  const posts = db.selectFrom('posts').select(['posted_at', 'verdict', 'caller_check']).where('batch_id', '=', batchId).orderBy('k');
  const requests = (attempt.posted_at === null ? [] : await posts.execute()).map(({ posted_at: at, verdict, caller_check: found }) => ({
    at,
    verdict,
    callerCheck: found === null ? null : (JSON.parse(found) as CallerCheckAtCall),
  }));
  const check = requests.at(-1)?.callerCheck ?? null;
  const record = await db.selectFrom('conversations').selectAll().where('attempt_id', '=', attempt.attempt_id).executeTakeFirst();
  const facts = record === undefined ? null : (JSON.parse(record.facts) as ConversationFacts);
  return {
    attemptId: attempt.attempt_id,
    /** Number within the row, from 1. */
    call: attempt.number,
    state: attempt.state,
    plannedAt: attempt.planned_at,
    /** To the service; none: no call was placed. */
    requests,
    endedAt: attempt.settled_at,
    disposition: attempt.disposition,
    detail: attempt.detail,
    result: attempt.result,
    openingLine: attempt.opening_line,
    agentId: attempt.agent_id,
    /** `check`: as known when the call was last requested, never later; null: unknown. */
    caller: {
      id,
      e164: check?.e164 ?? caller?.e164 ?? null,
      checkedAt: check?.checkedAt ?? null,
      check: check === null ? null : (check.fault ?? 'ready'),
      country: caller?.country ?? null,
    },
    /** Answer of the pre-dial hook. */
    screened: attempt.screened,
    screenedAt: attempt.screened_at,
    /** How the record was matched to the call. */
    evidence: attempt.evidence,
    record:
      record === undefined || facts === null
        ? null
        : {
            conversationId: record.conversation_id,
            startedAt: facts.startedAt,
            durationMs: facts.durationMs,
            callResult: facts.callResult,
          },
  };
}

/** Other numbers under the same ids: a person with two numbers, or an id given twice. */
async function countOthers(db: Queries, ids: readonly string[], e164: string): Promise<number> {
  if (ids.length === 0) return 0;
  const others = db.selectFrom('recipients').select('e164').distinct().where('external_id', 'in', ids).where('e164', '!=', e164);
  return (await others.execute()).length;
}

/** Log lines of the number's rows and do-not-call entries; of a corrected row only those about this number. */
async function readEvents(
  db: Queries,
  { e164, recipients, own }: { e164: string; recipients: readonly RecipientRow[]; own: ReadonlySet<string> },
): Promise<CampaignEvent[]> {
  const rowIds = recipients.map((row) => row.recipient_id);
  const foreign = new Set(recipients.flatMap((row) => (row.e164 === e164 ? [] : [row.recipient_id])));
  const ofRows = (await readEventsOf(db, rowIds, mostEvents)).filter(({ attemptId, recipientId = '' }) =>
    attemptId === undefined ? !foreign.has(recipientId) : own.has(attemptId),
  );
  const seqs = new Set(ofRows.map(({ seq }) => seq));
  const listed = await db
    .selectFrom('events')
    .selectAll()
    .where((eb) =>
      eb.or([
        // Account rules apply to every recipient.
        eb('type', '=', 'house.changed'),
        eb.and([eb('type', 'in', ['suppression.added', 'suppression.removed']), eb('data', 'like', `%"${e164}"%`)]),
      ]),
    )
    .orderBy('seq')
    .limit(mostEvents)
    .execute();
  return [...ofRows, ...listed.filter(({ seq }) => !seqs.has(seq)).map(toEvent)]
    .toSorted((one, other) => one.seq - other.seq)
    .map(withoutAddress);
}

/** A token may be named after an e-mail address: keeps only the part before the @. */
function withoutAddress(event: CampaignEvent): CampaignEvent {
  const actor = actorOf(event);
  if (actor === null) return event;
  const data: object = { ...event.data, actor: { ...actor, name: actor.name.replace(/@\S*/g, '') } };
  return { ...event, data } as CampaignEvent;
}

const keyName = 'evidence_key';

/** Ed25519 private key as PEM; created on first use. */
export async function readEvidenceKey({ transaction }: Pick<Store, 'transaction'>): Promise<string> {
  return transaction(async (tx) => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const value = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await tx.insertInto('meta').values({ key: keyName, value }).onConflict((conflict) => conflict.doNothing()).execute(); // prettier-ignore
    return (await tx.selectFrom('meta').select('value').where('key', '=', keyName).executeTakeFirstOrThrow()).value;
  });
}
