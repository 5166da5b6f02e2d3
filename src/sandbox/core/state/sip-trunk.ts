export const sipTransports = ['udp', 'tcp', 'tls'] as const;

/** A connection of somebody's own exchange or gateway to an agent. Only its data is here: no SIP is spoken. */
export interface SipTrunk {
  readonly trunkId: string;
  readonly label: string;
  /** Host, or host and port, of the exchange or gateway. */
  readonly address: string;
  readonly transport: (typeof sipTransports)[number];
  readonly agentId: string | null;
  readonly createdAt: number;
}
