import { isDeepStrictEqual } from 'node:util';
import { rowOf, type Campaign } from '../book.ts';
import type { AttemptRow, RecipientRow } from '../reader.ts';
import { hashCells, hashRow, type RowFacts } from '../row-book.ts';
import { misplacedBy, recordAgainst, resultBy } from './records.ts';
import type { Compared, Finding, Rule } from './rule.ts';

export const tableRules = {
  campaign_differs: {
    promise: 'state, rules and rows of every campaign are in the tables as in the log',
    inTables: {
      campaigns: ({ campaign }, row) => {
        if (row === undefined) return `campaign ${campaign.campaignId} is not in the tables`;
        const { rows, rejected, state, rules, loggedRules, fileHash } = campaign;
        const counted = figuresOf(campaign);
        return [
          row.state !== state && `the campaign is ${row.state} in the tables, and ${state} in the log`,
          !isDeepStrictEqual(JSON.parse(row.rules), loggedRules) && 'the rules of the campaign in the tables are not those of its import',
          ...[...new Set([...row.figures.keys(), ...counted.keys()])].map((name) => {
            const [reported, known] = [row.figures.get(name) ?? 0, counted.get(name) ?? 0];
            return reported !== known && `the report counts ${reported} of ${name}, and the log has ${known}`;
          }),
          row.file_hash !== fileHash && 'campaign file and list of the tables are not those of the import',
          row.agent_id !== rules.agentId &&
            `the campaign calls with agent ${row.agent_id} by the tables, and with ${rules.agentId} by the log`,
          (row.rows_total !== rows || row.rows_rejected !== rejected) &&
            `the tables have ${row.rows_total} rows, ${row.rows_rejected} rejected, and the log ${rows}, ${rejected} rejected`,
        ];
      },
    },
  },
  rows_differ: {
    promise: 'the results of every row are in the tables as in the log, and its number, zones and cells as imported',
    inTables: {
      recipients: (compared, row) => [againstRow(compared, row)].flat().map((what) => what && `row ${compared.id} ${what}`),
    },
  },
  calls_differ: {
    promise: 'every call and the record that it owns are in the tables as in the log',
    inTables: { attempts: againstCall },
  },
  requests_differ: {
    promise: 'every request, its verdict and its batch are in the tables as in the log',
    inTables: {
      batches: ({ campaign, id }, row) => {
        const batch = campaign.batches.get(id);
        if (row === undefined) return `batch ${id} is in the log, and not in the tables`;
        if (batch === undefined) return `batch ${id} is in the tables, and not in the log`;
        const { serviceId, firstPostedAt } = batch;
        const inTables = verdictsOf(row.posts.map(({ k, verdict }) => [k, verdict]));
        const inLog = verdictsOf(batch.logged.map((verdict, index) => [index + 1, verdict]));
        const first = row.posts[0]?.posted_at ?? null;
        return [
          row.state !== batch.state && `batch ${id} is ${row.state} in the tables, and ${batch.state} in the log`,
          serviceId !== null &&
            row.service_batch_id !== serviceId &&
            `the service took batch ${id} as ${row.service_batch_id} by the tables, and as ${serviceId} by the log`,
          inTables !== inLog
            ? `requests of batch ${id} are in the tables: ${inTables}, and in the log: ${inLog}`
            : first !== firstPostedAt && `batch ${id} was posted at ${first} by the tables, and at ${firstPostedAt} by the log`,
        ];
      },
    },
  },
  list_differs: { promise: 'the do-not-call list is what the log says: nobody was put on it or taken off it in silence' },
  record_contradicts: {
    promise: 'no end of a call contradicts the record that it owns',
    inTables: {
      attempts: ({ campaign, id, attempt }, row) => {
        if (row === undefined || attempt === undefined) return null;
        const contradiction = recordAgainst(campaign.rules, row);
        const { result, asks } = resultBy(campaign.rules, row) ?? { result: null, asks: null };
        return [
          contradiction !== null && `call ${id} ended as ${row.disposition}, and its record says ${contradiction}`,
          result !== row.result && `call ${id} came to ${row.result}, and its record says ${result}`,
          !mayAsk(row.asks, asks) && `call ${id} asks for ${row.asks}, and its record for ${asks}`,
        ];
      },
    },
  },
  record_ignored: {
    promise: "every record that names one of our calls belongs to that call, as stored and in the service's own list",
    inTables: {
      attempts: ({ book, id, attempt }, row) => {
        const misplaced = row === undefined || attempt === undefined ? null : misplacedBy(book, row);
        return misplaced !== null && `conversation ${row?.conversation_id} belongs to call ${id}, and ${misplaced}`;
      },
    },
  },
  service_differs: { promise: 'every batch that the service has from this database is in the log, and reported as the log has it' },
  service_repeats: { promise: 'the service calls nobody a second time by itself' },
} satisfies Record<string, Rule>;

function figuresOf({ outcomes, rejected, calls }: Campaign): Map<string, number> {
  const figures = new Map<string, number>();
  const add = (name: string, count: number) => void figures.set(name, (figures.get(name) ?? 0) + count);
  if (rejected > 0) add('outcome rejected', rejected);
  for (const outcome of outcomes.values()) add(`outcome ${outcome}`, 1);
  for (const attempts of calls.values())
    for (const { state, disposition } of attempts) if (state === 'settled') add(`disposition ${disposition}`, 1);
  return figures;
}

function verdictsOf(requests: readonly (readonly [k: number, verdict: string | null])[]): string {
  return requests.map(([k, verdict]) => `${k} ${verdict ?? 'without a verdict'}`).join(', ') || 'none';
}

function againstRow({ book: { rowKey }, campaign, id }: Compared, row: RecipientRow | undefined): Finding {
  if (row === undefined) return 'of the list is not in the tables';
  const number = campaign.rowNumber(id);
  if (number === null) return 'is in the tables, and the log knows of no such row';
  const compare = (what: string, inTable: unknown, inLog: unknown) =>
    inTable !== inLog && `has ${what} ${String(inTable)} in the tables, and ${String(inLog)} in the log`;
  const known = campaign.outcomes.get(id) ?? null;
  // Of rejected rows the log has only count and hashes.
  const isRejected = known === null && row.outcome === 'rejected';
  const isSame = row.outcome === known;
  const reason = known === null ? null : (campaign.reasons.get(id) ?? null);
  const calls = campaign.callsOf(id);
  const waits = calls.some(({ state }) => state === null) ? 'open' : 'waiting';
  const wasOpen = known === null && waits === 'open' && campaign.withdrawn.has(id);
  const [ofTerms, ofCells] = rowKey === null ? [] : [campaign.rowBook.of(number), campaign.cellBook.of(number)];
  const rejectedAs = isRejected ? row.reason : null;
  return [
    !isRejected && compare('outcome', row.outcome, known),
    !isRejected && isSame && compare('reason', row.reason, reason),
    (isSame || isRejected) && compare('state', row.state, row.outcome === null ? waits : 'done'),
    wasOpen && row.taken_out_at === null && 'was withdrawn with its open call by the log, and not in the tables',
    compare('number', row.row_number, number),
    compare('calls', row.attempts, calls.length),
    compare('result', row.result, calls.findLast((call) => call.isTalk && call.detail !== 'silent')?.result ?? null),
    compare('last call', row.last_attempt_id, calls.findLast(({ postedAt }) => postedAt !== null)?.attemptId ?? null),
    ofTerms !== undefined &&
      hashRow(rowKey ?? '', id, factsOf(row), ofTerms.version) !== ofTerms.hash &&
      'leads to another number, person, place or time than its list said',
    ofTerms !== undefined &&
      ofCells !== undefined &&
      hashCells(rowKey ?? '', id, { cells: row.cells, rejectedAs }) !== ofCells.hash &&
      'has other cells than its list, or was rejected for another reason',
  ];
}

function factsOf({ e164, external_id: person, country, not_before: notBefore, expires_at: expiresAt, ...row }: RecipientRow): RowFacts {
  const regions = row.regions === null ? null : (JSON.parse(row.regions) as unknown);
  const zones = JSON.parse(row.zones) as unknown;
  const later = row.terms === null ? {} : (JSON.parse(row.terms) as RowFacts);
  return { ...later, e164, person, zones, country, regions, notBefore, expiresAt };
}

function againstCall({ campaign, id, attempt }: Compared, row: AttemptRow | undefined): Finding {
  if (row === undefined) return `call ${id} is in the log, and not in the tables`;
  if (attempt === undefined) return `call ${id} is in the tables, and not in the log`;
  const compare = (what: string, inTable: unknown, inLog: unknown) =>
    inTable !== inLog && `${what} of call ${id} is ${String(inTable)} in the tables, and ${String(inLog)} in the log`;
  const ended = row.state === 'settled' || row.state === 'released' ? row.state : null;
  const isSettled = ended === 'settled' && attempt.state === 'settled';
  const { call, postedAt } = attempt;
  // If a batch posted again is in doubt, the first request counts.
  const postedAts = [postedAt, call?.at ?? null, campaign.batches.get(attempt.batchId)?.firstPostedAt];
  return [
    compare('the row', row.recipient_id, rowOf(id)),
    compare('the place in its row', row.number, attempt.nth),
    compare('the agent', row.agent_id, campaign.rules.agentId),
    compare('the end', ended, attempt.state),
    compare('the batch', row.batch_id, attempt.batchId),
    call !== null &&
      (row.e164 !== call.number || row.person !== call.person) &&
      `call ${id} went to another number or person by the tables than by the log`,
    !postedAts.includes(row.posted_at) && compare('the time', row.posted_at, postedAt),
    isSettled && compare('the disposition', row.disposition, attempt.disposition),
    isSettled && compare('the detail', row.detail, attempt.detail),
    isSettled && compare('the place in the budget', row.counted === 1, attempt.counted),
    ended !== null && attempt.state === ended && compare('the end', row.settled_at, attempt.endedAt),
    compare('the result', row.result, attempt.result),
    compare('what it asks for', row.asks, attempt.asks),
    compare('the record', row.conversation_id, attempt.conversation),
    compare('the evidence', row.evidence, attempt.evidence),
    row.conversation_id !== null && row.owner !== id && `record ${row.conversation_id} of call ${id} ${ownerOf(row)}`,
  ];
}

function ownerOf({ facts, owner }: AttemptRow): string {
  if (facts === null) return 'is not in the tables';
  return owner === null ? 'belongs to nobody in the tables' : `belongs to call ${owner} in the tables`;
}

/** A callback's time may be unclear, and an operator may agree one too. */
function mayAsk(asks: string | null, recordedAsks: string | null): boolean {
  return asks === 'person' || asks === recordedAsks || (recordedAsks === 'callback' && (asks === null || asks === 'retry'));
}
