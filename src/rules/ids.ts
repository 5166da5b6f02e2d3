/** Task queues of one database, shared by all its workers and workflows. */
export interface CampaignQueues {
  campaign: string;
  /** POSTs only. */
  submit: string;
  collect: string;
}

/** Contain the database's id, so that a worker with another database never picks up the work. */
export function campaignQueues(prefix: string, ledgerId: string): CampaignQueues {
  const name = (kind: string) => `${prefix}-${kind}-${ledgerId}`;
  return { campaign: name('campaign'), submit: name('submit'), collect: name('collect') };
}

/** Id of a round's batch; deterministic. */
export function batchIdOf(campaignId: string, round: number, batchNumber: number): string {
  return `${campaignId}/${round}/${batchNumber}`;
}

/** Number of a batch within its round, from its id. */
export function batchNumberOf(batchId: string): number {
  return Number(batchId.slice(batchId.lastIndexOf('/') + 1));
}

/** Title of a request at the service; the request's mark follows it. */
export function requestTitle(ledgerId: string, batchId: string): string {
  return `${ledgerId}:${batchId}`;
}

/** Id of a recipient's nth attempt. */
export function attemptIdOf(recipientId: string, number: number): string {
  return `${recipientId}/${number}`;
}

const reference = /^[0-9a-f]{12}:(.+\/\d+\/\d+)$/;

/** Attempt in a reference (database and attempt) sent with a call; null: not a reference. */
export function attemptNamedBy(text: string): string | null {
  return reference.exec(text)?.[1] ?? null;
}

/** Workflow id of a round. Temporal runs one workflow per id at a time, so no round runs twice at once. */
export function campaignWorkflowId(campaignId: string, round: number): string {
  return `campaign/${campaignId}/${round}`;
}

/** Workflow id of the end-of-round notification: one per round. */
export function completionNotificationId(campaignId: string, round: number): string {
  return `${campaignWorkflowId(campaignId, round)}/notice`;
}

/** Workflow id of a pause notification: one per round and instant. `pausedAt` is epoch ms, service time. */
export function pauseNotificationId(campaignId: string, round: number, pausedAt: number): string {
  return `${campaignWorkflowId(campaignId, round)}/paused/${new Date(pausedAt).toISOString()}`;
}

/** Workflow id of a webhook's deliveries: Temporal runs one workflow per id, so they keep their order. */
export function webhookWorkflowId(webhookId: string): string {
  return `webhook/${webhookId}`;
}

/** Time of a scheduled run, which the Temporal server appends to the workflow id; null: none. */
export function scheduledTimeOf(workflowId: string): number | null {
  const time = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(workflowId)?.[1];
  return time === undefined ? null : Date.parse(time);
}
