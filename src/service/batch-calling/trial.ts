import { jsonOf, parseBody } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { pathOf, root } from '../http/paths.ts';
import { isRecord } from '../http/refusal-detail.ts';
import type { Transport } from '../http/transport.ts';
import type { ServiceReads } from '../port/call-service.ts';
import { BadResponseError, RefusedError } from '../port/errors.ts';
import { orderOf, type LookUpTrial, type TrialCall } from '../port/lookup-trial.ts';
import { findMarked } from './find-marked.ts';
import { batch } from './schemas.ts';
import { batchCallingService, bodyOf, collection } from './service.ts';
import { trialRequest, trialTime, isFarAhead } from './submission.ts';

/** A trial of batch calling. */
export function batchTrial(transport: Transport, reads: ServiceReads, call: TrialCall): LookUpTrial {
  const service = batchCallingService(transport, reads);
  const path = `${root}/${collection}`;
  const takeBackPath = (id: string) => `${pathOf('POST', collection, id)}/cancel`;
  return {
    async schedule() {
      const body = Buffer.from(JSON.stringify({ ...bodyOf(trialRequest(call)), scheduled_time_unix: trialTime(call.now) }));
      const success = await transport.write({ method: 'POST', path: `${path}/submit`, body, dials: true });
      const { id, scheduled_time_unix: scheduled } = parseBody(success, batch);
      if (id === null) throw new BadResponseError(success.request, success.status, ['no id of the batch']);
      return { id, isAhead: isFarAhead(scheduled, call.now) };
    },
    async listed() {
      const found = await findMarked(transport, { ...call, since: call.now });
      return found.kind === 'accepted' ? found.serviceBatchId : null;
    },
    async order() {
      const page = readPage(jsonOf(await transport.read(`${path}/workspace`, { agent_id: call.agentId })), 'batch_calls', 'next_doc');
      return orderOf((page?.items ?? []).map((entry) => batch.parse(isRecord(entry) ? entry : {}).created_at_unix));
    },
    repeat: async () => null,
    takeBackPath,
    async takeBack(id) {
      try {
        await service.withdraw?.(id, 'all');
        const report = (await service.report?.(id)) ?? [];
        if (report.some(({ state }) => state !== 'withdrawn')) return 'its recipient is not cancelled';
        await transport.write({ method: 'DELETE', path: pathOf('DELETE', collection, id), body: null });
        await service.report?.(id);
        return 'it is cancelled, and still there after it was deleted';
      } catch (error) {
        if (error instanceof RefusedError && error.status === 404) return null;
        throw error;
      }
    },
  };
}
