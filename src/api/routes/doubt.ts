import type { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { decide, readDoubtful, readRowDecision, resolveAll, type SetOff } from '../../control/resolve.ts';
import { maskedNumber } from '../../input/masked-number.ts';
import { printable } from '../../input/printable.ts';
import { withInstants } from '../../input/with-instants.ts';
import { DecisionsRefusedError } from '../../ledger/people/decision-checks.ts';
import type { Api } from '../core/app.ts';
import { changeCampaign } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { ProblemError } from '../core/problem.ts';
import { campaignParams, keyHeaders, refusals } from '../schemas/common.ts';
import { doubtfulRows, resolveBody, resolved, rowDecided, rowDecisionBody } from '../schemas/doubt.ts';
import { rowParams } from '../schemas/rows.ts';

const tags = ['rows'];

/** Calls of which nobody knows what became, and what people decide about them. */
export function doubtRoutes(app: Api, context: ApiContext): void {
  app.get(
    '/api/v1/campaigns/:campaign/doubtful',
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'listDoubtful',
        tags,
        summary: 'List unresolved rows with the records that may be theirs',
        description: 'Opening lines of records are shown, so this takes the role operate. Numbers are masked.',
        params: campaignParams,
        response: { 200: doubtfulRows, ...refusals(404) },
      },
    },
    async ({ params }) => {
      const { campaignId } = await requireCampaign(context.store, params.campaign);
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
      return withInstants({ rows }) as z.input<typeof doubtfulRows>;
    },
  );

  app.post(
    '/api/v1/campaigns/:campaign/rows/:row/resolve',
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'resolveRow',
        tags,
        summary: 'Decide about one row in doubt',
        description:
          'A record is theirs or not theirs; or the row is dialled again, perhaps a second time, or left as it is.',
        params: rowParams,
        headers: keyHeaders,
        body: rowDecisionBody,
        response: { 200: rowDecided, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { row } = request.params;
      const { decision, conversationId = null } = request.body;
      const work = async (campaignId: string) => {
        const line = { row, decision, conversationId, place: `row ${row}` };
        const lines = await readRowDecision(context, campaignId, line);
        if (lines === null)
          throw new ProblemError(
            409,
            'not_in_doubt',
            `Row ${row} of campaign ${campaignId} is not in doubt, or was left as it is.`,
          );
        const { setOff } = await decide(context, campaignId, lines).catch((error: unknown) => {
          throw error instanceof DecisionsRefusedError ? problemOfDecision(error) : error;
        });
        return { campaignId, row, setOff: setOffText(setOff) };
      };
      return changeCampaign(context, { request, reply, action: `resolve_row_${decision}`, work });
    },
  );

  app.post(
    '/api/v1/campaigns/:campaign/resolve',
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'resolveAll',
        tags,
        summary: 'Decide about all unresolved rows together',
        description:
          'With redial: if a lost batch was carried out after all, its recipients are called twice; no record can rule this out.',
        params: campaignParams,
        headers: keyHeaders,
        body: resolveBody,
        response: { 200: resolved, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { decision, open } = request.body;
      const work = async (campaignId: string) => {
        const { resolution, openGivenUp, setOff } = await resolveAll(context, { campaignId, decision, open });
        const told = { campaignId, ...resolution, openGivenUp, setOff: setOffText(setOff) };
        return withInstants(told) as z.input<typeof resolved>;
      };
      return changeCampaign(context, { request, reply, action: `resolve_${decision}`, work });
    },
  );
}

/** Says what stands in the way of the decision: the error itself only counts. */
function problemOfDecision({ problems }: DecisionsRefusedError): ProblemError {
  const why = problems.map(({ value, problem }) => `${printable(value)}: ${problem}`).join('; ');
  return new ProblemError(422, 'decisions_refused', `Nothing was changed. ${why}.`);
}

function setOffText(setOff: SetOff): string | null {
  if (setOff === null) return null;
  return setOff.kind === 'round' ? `round ${setOff.round} was started` : 'the campaign is paused: resume it';
}
