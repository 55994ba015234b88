/// 256 short English words that are hard to confuse, one for each byte.
enum CommonWords {
  static let all = text.split(whereSeparator: \.isWhitespace).map(String.init)

  private static let text = """
    acorn actor album alley amber angle ankle apple april apron arrow artist aspen attic autumn badge
    bagel baker bamboo banana banjo barrel basil basket beach beaver bench berry bicycle biscuit blanket bottle
    bracelet bread bridge bronze broom bucket butter button cabin cactus camel camera candle canoe canvas carbon
    carpet castle cedar cellar cement chalk cherry chess chimney cinema circus cliff clock clover cobra coffee
    comet compass copper coral corner cotton cousin cradle crayon cricket crystal cupboard curtain daisy dancer desert
    diamond dolphin donkey dragon drawer drummer eagle easel elbow elephant emerald engine envelope falcon farmer feather
    fiddle finger flag flute forest fossil fountain fox galaxy garden garlic ginger giraffe glacier globe glove
    grape guitar hammer harbor harvest hazel hedge helmet hermit honey hornet hotel husky icicle igloo insect
    island ivory jacket jaguar jasmine jelly jigsaw jungle kayak kettle kitchen kite koala ladder lagoon lamp
    lantern lava lemon lentil library lilac lizard lobster locket lumber magnet mango maple marble meadow medal
    melon mermaid meteor mirror mitten monkey morning mosaic mountain muffin museum mustard napkin needle nephew nickel
    noodle notebook nutmeg ocean olive onion orange orchid oregano otter oven oyster paddle palace panda parrot
    pasture peanut pebble pelican pencil pepper piano pickle pigeon pillow pirate planet plaza pocket pony potato
    prairie pretzel puddle pumpkin puppet pyramid quarry rabbit radio radish raven ribbon river robin rocket saddle
    sailor salmon sandal scarf school seagull shadow shovel silver singer sparrow spider spoon squash stable statue
    sugar sunset tailor teapot tiger timber tomato tractor trumpet tulip turtle umbrella valley velvet village walnut
    """
}
