import type { Call } from './call.ts';

/** In the form of upstream's outbound campaigns: one call per recipient. Times: epoch ms of service time. */
export interface Campaign {
  readonly campaignId: string;
  readonly name: string;
  readonly agentId: string;
  readonly phoneNumberId: string;
  readonly modeConfig: Record<string, unknown> | null;
  /** Identifies a repeat: the request's idempotency key, else a digest of its body. */
  readonly key: string;
  readonly bodyDigest: string;
  readonly createdAt: number;
  readonly scheduledAt: number | null;
  readonly timezone: string | null;
  readonly branchId: string | null;
  readonly environment: string | null;
  readonly targetConcurrency: number | null;
  /** In request order. */
  readonly leads: readonly CampaignLead[];
  standing: 'running' | 'paused' | 'stopped';
  updatedAt: number;
}

export interface CampaignLead {
  readonly leadId: string;
  readonly intentId: string;
  /** The client's own id, if it is returned. */
  readonly recipientId: string | null;
  readonly phoneNumbers: readonly string[];
  readonly call: Call;
  removed: boolean;
}
