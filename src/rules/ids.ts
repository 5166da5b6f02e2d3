/** Names of the task queues of one database; all workers and workflows of the database share them. */
export interface CampaignQueues {
  campaign: string;
  /** POSTs only. */
  submit: string;
  collect: string;
}

/** Task queues carry the database's id, so that a worker with another database never picks up the work. */
export function campaignQueues(prefix: string, ledgerId: string): CampaignQueues {
  const name = (kind: string) => `${prefix}-${kind}-${ledgerId}`;
  return { campaign: name('campaign'), submit: name('submit'), collect: name('collect') };
}

/** Id of a round's batch; the same number always has the same id. */
export function batchIdOf(campaignId: string, round: number, batchNumber: number): string {
  return `${campaignId}/${round}/${batchNumber}`;
}

/** The number of a batch within its round, by its id. */
export function batchNumberOf(batchId: string): number {
  return Number(batchId.slice(batchId.lastIndexOf('/') + 1));
}

/** What a request of a database is called where a service shows it; its mark stands behind. */
export function requestTitle(ledgerId: string, batchId: string): string {
  return `${ledgerId}:${batchId}`;
}

/** Of the nth attempt of a recipient. */
export function attemptIdOf(recipientId: string, number: number): string {
  return `${recipientId}/${number}`;
}

const reference = /^[0-9a-f]{12}:(.+\/\d+\/\d+)$/;

/** The attempt that a reference names, as it is sent along with a call: the database, and the attempt in it; null: it is none. */
export function attemptNamedBy(text: string): string | null {
  return reference.exec(text)?.[1] ?? null;
}

/** Workflow id of a round. Temporal runs one workflow per id at a time, so no round runs twice at once. */
export function campaignWorkflowId(campaignId: string, round: number): string {
  return `campaign/${campaignId}/${round}`;
}

/** Workflow id of the notice of the end of a round: one per round. */
export function completionNoticeId(campaignId: string, round: number): string {
  return `${campaignWorkflowId(campaignId, round)}/notice`;
}

/** Workflow id of the notice of a pause: one per round and instant. `pausedAt` is epoch milliseconds in service time. */
export function pauseNoticeId(campaignId: string, round: number, pausedAt: number): string {
  return `${campaignWorkflowId(campaignId, round)}/paused/${new Date(pausedAt).toISOString()}`;
}

/** Workflow id of the deliveries to a webhook: Temporal runs one workflow per id, so they keep their order. */
export function webhookWorkflowId(webhookId: string): string {
  return `webhook/${webhookId}`;
}

/** The time of a firing, which the server puts behind the id of the workflow that it starts; null when there is none. */
export function firingTimeOf(workflowId: string): number | null {
  const time = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(workflowId)?.[1];
  return time === undefined ? null : Date.parse(time);
}
