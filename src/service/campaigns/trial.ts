import { isFarAhead, isNamed, trialRequest, trialTime } from '../batch-calling/submission.ts';
import { parseBody } from '../http/bodies.ts';
import { pathOf, root } from '../http/paths.ts';
import { isRecord } from '../http/refusal-detail.ts';
import type { Transport } from '../http/transport.ts';
import type { ServiceReads } from '../port/call-service.ts';
import { BadResponseError, OutcomeUnknownError } from '../port/errors.ts';
import { orderOf, type LookUpTrial, type TrialCall } from '../port/lookup-trial.ts';
import { bodyOf, collection, fenceOf, readAll } from './requests.ts';
import { campaign, submitted, type SeenCampaign } from './schemas.ts';
import { campaignsService } from './service.ts';

/** A trial of outbound campaigns. */
export function campaignTrial(transport: Transport, reads: ServiceReads, call: TrialCall): LookUpTrial {
  const service = campaignsService(transport, reads);
  const path = `${root}/${collection}`;
  const body = { ...bodyOf(trialRequest(call)), scheduled_time_unix: trialTime(call.now) };
  const submit = async (what: unknown) => {
    const success = await transport.write({ method: 'POST', path: `${path}/submit`, body: Buffer.from(JSON.stringify(what)), dials: true });
    const answer = parseBody(success, submitted);
    if (answer.campaign?.campaign_id == null) throw new BadResponseError(success.request, success.status, ['no id of the campaign']);
    return { id: answer.campaign.campaign_id, scheduled: answer.campaign.scheduled_time_unix };
  };
  const list = async (query: Record<string, string>): Promise<SeenCampaign[]> => {
    const entries = await readAll(transport, path, 'campaigns', { agent_id: call.agentId, ...query });
    return entries.map((entry) => campaign.parse(isRecord(entry) ? entry : {}));
  };
  const takeBackPath = (id: string) => `${pathOf('POST', collection, id)}/stop`;
  return {
    async schedule() {
      const { id, scheduled } = await submit(body);
      return { id, isAhead: isFarAhead(scheduled, call.now) };
    },
    async listed() {
      const named = (await list({ search: call.mark })).find(({ call_name: name }) => name !== null && isNamed(name, call.mark));
      return named?.campaign_id ?? null;
    },
    order: async () => orderOf((await list({})).map(({ created_at_unix: created }) => created)),
    async repeat(id) {
      const made = new Set([(await submit(body)).id]);
      let isRefused = false;
      try {
        made.add((await submit(fenceOf(call, call.to, call.now))).id);
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError) || error.status !== 409) throw error;
        isRefused = true;
      }
      made.delete(id);
      return { key: made.size > 0 ? 'none' : isRefused ? 'conflict' : 'first_answer', made: [...made] };
    },
    takeBackPath,
    async takeBack(id) {
      await service.withdraw?.(id, 'all');
      const report = (await service.report?.(id)) ?? [];
      if (report.some(({ state }) => state !== 'withdrawn')) return 'its recipient is not cancelled';
      const { status } = parseBody(await transport.read(pathOf('GET', collection, id)), campaign);
      return status === 'stopped' ? null : `its status is ${status === null ? 'not told' : 'not "stopped"'}`;
    },
  };
}
