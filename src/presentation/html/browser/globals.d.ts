/** Served beside these scripts, unchanged from its package. */
declare const Idiomorph: {
  morph(
    old: Element,
    fresh: string,
    options: {
      callbacks?: { beforeAttributeUpdated?: (name: string, element: Element) => boolean; beforeNodeMorphed?: (old: Node) => boolean };
    },
  ): void;
};
