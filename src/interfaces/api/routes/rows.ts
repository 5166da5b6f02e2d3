import { readRow, serviceNow } from '../../../operations/runs/run.ts';
import { listCallbacks } from '../../../operations/control/callbacks.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { searchPeople } from '../../../operations/control/search.ts';
import { readDoubtful } from '../../../operations/control/resolve.ts';
import { maskedNumber } from '../../../shared/input/printable.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { nextCallText, eventText } from '../../../presentation/words/history.ts';
import { readNumberView } from '../../../ledger/read/callee.ts';
import { readCampaignRows, type RowQuery } from '../../../ledger/read/campaign-rows.ts';
import { type Api, type ApiContext, holderOf } from '../core/app.ts';
import { serve } from '../core/serve.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { noteNumbersShown, LatelyShown, showTranscript, noteShown } from '../core/shown.ts';
import { mayAct } from '../../../ledger/console/tokens.ts';
import { makeEvidence } from '../../../operations/control/evidence.ts';
import { openRecording } from '../../../operations/control/call-record.ts';

export function rowRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  serve(app, 'listRows', async (request) => {
    const { params, query } = request;
    const { campaignId } = await requireCampaign(store, params.campaign);
    if (query.numbers === 'shown') await noteNumbersShown(context, request, campaignId);
    const { state: states, outcome: outcomes, reason: reasons, result: results, waiting_for: waitingFor, after: afterRow, limit } = query;
    const everywhere = mayAct(holderOf(request).role, 'operate');
    const search = query.search === undefined ? undefined : { text: query.search, everywhere };
    const rowQuery: RowQuery = { states, outcomes, reasons, results, waitingFor, search, afterRow, limit };
    const found = await readCampaignRows(store.db, campaignId, rowQuery, await serviceNow(context));
    const rows = found.map((row) => {
      const e164 = query.numbers === 'shown' || row.e164 === null ? row.e164 : maskedNumber(row.e164);
      const { notBefore } = row.terms;
      return { ...row, e164, terms: { ...row.terms, notBefore: notBefore === null ? null : new Date(notBefore).toISOString() } };
    });
    const next = found.length < query.limit ? null : (found.at(-1)?.row ?? null);
    return withInstants({ rows, next });
  });

  serve(app, 'searchPeople', async (request) => {
    const query = { ...request.body, everywhere: mayAct(holderOf(request).role, 'operate') };
    const { people, isComplete } = await searchPeople(context, query, await serviceNow(context));
    return {
      people: people.map(({ campaign: { campaignId, name }, row: { row, externalId, e164, state, outcome }, match }) => ({
        campaignId,
        campaignName: name,
        row,
        externalId,
        e164: e164 === null ? null : maskedNumber(e164),
        state,
        outcome,
        match,
      })),
      complete: isComplete,
    };
  });

  serve(app, 'showStory', async (request) => {
    const { params, query } = request;
    const { campaignId, row, now } = await requireRow(context, params);
    if (query.numbers === 'shown') await noteNumbersShown(context, request, campaignId);
    const recipient = row.e164 === null ? null : await readNumberView(store.db, row.e164, now);
    const { rows = [], suppressions = [], events = [], truncated = false } = recipient ?? {};
    const answer = {
      e164: row.e164 === null || query.numbers === 'shown' ? row.e164 : maskedNumber(row.e164),
      suppressed: suppressions.some(({ expiresAt }) => expiresAt === null || expiresAt > now),
      rows: rows.map((each) => ({
        campaignId: each.campaign.campaignId,
        row: each.recipient.row_number,
        state: each.recipient.state,
        outcome: each.recipient.outcome,
        reason: each.recipient.reason,
        next: nextCallText(each),
        calls: each.calls.map(({ attempt }) => ({
          number: attempt.number,
          state: attempt.state,
          plannedAt: attempt.planned_at,
          postedAt: attempt.posted_at,
          settledAt: attempt.settled_at,
          disposition: attempt.disposition,
          result: attempt.result,
          detail: attempt.detail,
          conversationId: attempt.conversation_id,
        })),
      })),
      suppressions,
      story: events.map((event) => ({ seq: event.seq, at: event.at, campaignId: event.campaignId, text: eventText(event) })),
      truncated,
    };
    return withInstants(answer);
  });

  serve(app, 'listCallbacks', async ({ params, query }) => {
    const callbacks = await listCallbacks(context, params.campaign, query.state);
    return withInstants({ callbacks });
  });

  serve(app, 'listDoubtful', async ({ params }) => {
    const { campaignId } = await requireCampaign(store, params.campaign);
    const found = await readDoubtful(context, campaignId, null);
    const rows = found.map(({ recipient, calls }) => ({
      row: recipient.row_number,
      externalId: recipient.external_id,
      e164: recipient.e164 === null ? null : maskedNumber(recipient.e164),
      reason: recipient.reason,
      calls: calls.map(({ attempt, records }) => ({
        attemptId: attempt.attempt_id,
        postedAt: attempt.posted_at,
        detail: attempt.detail,
        records: records.map(({ conversationId, facts }) => ({
          conversationId,
          startedAt: facts.startedAt,
          durationMs: facts.durationMs,
          openingLine: facts.openingLine,
          userTurns: facts.userTurns,
        })),
      })),
    }));
    return withInstants({ rows });
  });
}

async function requireRow(context: ApiContext, { campaign, row: number }: { campaign: string; row: number }) {
  const { campaignId } = await requireCampaign(context.store, campaign);
  const now = await serviceNow(context);
  return { campaignId, row: await readRow(context.store.db, { campaignId, row: `${number}`, now }), now };
}

const fileEndings: Readonly<Record<string, string>> = { 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/mpeg': 'mp3' };

export function callRoutes(app: Api, context: ApiContext): void {
  const played = new LatelyShown();
  serve(app, 'showTranscript', async (request) => {
    const { campaign: campaignId, row, call } = request.params;
    return showTranscript(context, holderOf(request), { campaignId, row, call });
  });

  serve(app, 'downloadEvidence', async (request, reply) => {
    const { params, query } = request;
    const { campaignId, row, now } = await requireRow(context, params);
    if (row.e164 === null) throw new ProblemError(404, 'no_number', `Row ${params.row} has no number that could be called.`);
    const since = query.since === undefined ? null : Date.parse(query.since);
    const evidenceRequest = { e164: row.e164, since, now, by: holderOf(request).name, withConversations: query.with_conversations };
    const { bytes } = await makeEvidence(context, evidenceRequest);
    return reply
      .type('application/zip')
      .header('content-disposition', `attachment; filename="${campaignId}-row-${params.row}-evidence.zip"`)
      .send(Buffer.from(bytes));
  });

  serve(app, 'downloadRecording', async (request, reply) => {
    const { campaign: campaignId, row, call } = request.params;
    const { range } = request.headers;
    const { ids, type, status, headers, body } = await openRecording(context, { campaignId, row, call, range });
    reply.raw.on('close', () => body.destroy());
    // A player requests a recording in many ranges.
    const holder = holderOf(request);
    if (!played.isShown(holder.tokenId, ids.attemptId, context.now())) {
      await noteShown(context, holder, { ...ids, action: 'recording_shown' });
      played.show(holder.tokenId, ids.attemptId, context.now());
    }
    const ending = fileEndings[type ?? ''] ?? 'audio';
    return reply
      .code(status)
      .headers(headers)
      .type(type ?? 'application/octet-stream')
      .header('content-disposition', `attachment; filename="${campaignId}-row-${row}-call-${call}.${ending}"`)
      .header('x-content-type-options', 'nosniff')
      .send(body);
  });
}
