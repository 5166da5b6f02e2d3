import { parseBody } from '../http/bodies.ts';
import { pathOf } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';
import { placeOnce } from '../batch-calling/submission.ts';
import type { CallService, ServiceReads } from '../port/call-service.ts';
import { BadResponseError } from '../port/errors.ts';
import { findKeyed } from './find-keyed.ts';
import { bodyOf, collection, kindOf, listCampaigns, readAll } from './requests.ts';
import { areOf, readLead, reportOf, submitted, type Lead } from './schemas.ts';

/** Campaigns whose leads are kept in mind. */
const mostKept = 1_000;

/**
 * Calls in campaigns of the published interface, one call for each recipient: a request has a key, by which one whose answer was lost is
 * told from one that never came, and each recipient can be taken back.
 */
export function campaignsService(transport: Transport, reads: ServiceReads): CallService {
  const below = (method: string, id: string, what: string) => `${pathOf(method, collection, id)}/${what}`;
  const leadsOf = async (id: string): Promise<Lead[]> => (await readAll(transport, below('GET', id, 'leads'), 'leads')).map(readLead);
  /** Who is called does not change, and each of a campaign's leads that has a call listed is told of by it. */
  const leads = new Map<string, readonly Lead[]>();
  return {
    abilities: { lookUp: 'key', namesRecipients: true, withdraw: 'recipient' },
    place: (request, once) =>
      placeOnce(transport, { path: `/${collection}/submit`, body: bodyOf(request) }, once, (success) => {
        const { campaign, created } = parseBody(success, submitted);
        const fault = (problem: string) => new BadResponseError(success.request, success.status, [problem]);
        if (campaign?.campaign_id == null) throw fault('no id of the campaign');
        // A key that is taken is this request's own, sent by whoever, or that of the fence around it, which calls nobody.
        if (created !== true && kindOf(campaign, request.mark) !== 'request') throw fault('another campaign has the key');
        return campaign.campaign_id;
      }),
    find: (post) => findKeyed(transport, reads, post),
    batches: (agentId) => listCampaigns(transport, agentId),
    async report(serviceBatchId) {
      // Calls first: one that is made meanwhile is then of a lead that is known.
      const calls = await readAll(transport, below('GET', serviceBatchId, 'calls'), 'calls');
      const known = leads.get(serviceBatchId);
      if (known !== undefined && areOf(known, calls)) return reportOf(known, calls);
      const read = await leadsOf(serviceBatchId);
      leads.delete(serviceBatchId);
      leads.set(serviceBatchId, read);
      const [oldest] = leads.keys();
      if (leads.size > mostKept && oldest !== undefined) leads.delete(oldest);
      return reportOf(read, calls);
    },
    async withdraw(serviceBatchId, refs) {
      if (refs === 'all') {
        await transport.write({ method: 'POST', path: below('POST', serviceBatchId, 'stop'), body: null });
        return;
      }
      for (const { lead_id: leadId, recipient_id: ref } of await leadsOf(serviceBatchId))
        if (leadId !== null && ref !== null && refs.includes(ref))
          await transport.write({
            method: 'DELETE',
            path: pathOf('DELETE', `${collection}/${encodeURIComponent(serviceBatchId)}/leads`, leadId),
            body: null,
          });
    },
    ...reads,
  };
}
