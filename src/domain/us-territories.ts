/** Territories that have an ISO 3166 code of their own, and in which the law of the US holds: American Samoa, Guam, … */
export const usTerritories: ReadonlySet<string> = new Set(['AS', 'GU', 'MP', 'PR', 'VI']);
