import type { Call } from './call.ts';

/** People of whom each is called once, in the form of upstream's outbound campaigns. Times: epoch milliseconds of service time. */
export interface Campaign {
  readonly campaignId: string;
  readonly name: string;
  readonly agentId: string;
  readonly phoneNumberId: string;
  readonly modeConfig: Record<string, unknown> | null;
  /** What a repeat is known by: the key that came with the request, or else the digest of its body. */
  readonly key: string;
  readonly bodyDigest: string;
  readonly createdAt: number;
  readonly scheduledAt: number | null;
  readonly timezone: string | null;
  readonly branchId: string | null;
  readonly environment: string | null;
  readonly targetConcurrency: number | null;
  /** In the order given. */
  readonly leads: readonly CampaignLead[];
  standing: 'running' | 'paused' | 'stopped';
  updatedAt: number;
}

export interface CampaignLead {
  readonly leadId: string;
  readonly intentId: string;
  /** The caller's own id, where it comes back. */
  readonly recipientId: string | null;
  readonly phoneNumbers: readonly string[];
  readonly call: Call;
  removed: boolean;
}
