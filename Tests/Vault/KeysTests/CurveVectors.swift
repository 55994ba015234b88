internal import Primitives

@testable internal import Keys

enum CurveVectors {
  /// RFC 6979, appendix A.2: signatures (r ‖ s). They must be accepted, although signing here uses random nonces and
  /// gives others.
  struct ECDSA: Sendable {
    var hash: HashFunction
    var message: String
    /// 04 ‖ X ‖ Y ‖ K.
    var privateForm: [UInt8]
    var signature: [UInt8]
  }

  static let ecdsa = [
    ECDSA(
      hash: .sha256, message: "sample",
      privateForm: hex(
        """
        0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2
        f1b20c2d7e9f5177a3c294d4462299c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721
        """),
      signature: hex(
        """
        efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e9
        00dbb9aff4064dc4ab2f843acda8
        """)),
    ECDSA(
      hash: .sha512, message: "sample",
      privateForm: hex(
        """
        0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2
        f1b20c2d7e9f5177a3c294d4462299c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721
        """),
      signature: hex(
        """
        8496a60b5e9b47c825488827e0495b0e3fa109ec4568fd3f8d1097678eb97f002362ab1adbe2b8adf9cb9edab740ea6049c0
        28114f2460f96554f61fae3302fe
        """)),
    ECDSA(
      hash: .sha384, message: "sample",
      privateForm: hex(
        """
        04ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc1380
        15d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd25332647206b9d3d
        ad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5
        """),
      signature: hex(
        """
        94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe4699ef
        4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8
        """)),
    ECDSA(
      hash: .sha224, message: "sample",
      privateForm: hex(
        """
        04ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc1380
        15d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd25332647206b9d3d
        ad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5
        """),
      signature: hex(
        """
        42356e76b55a6d9b4631c865445dbe54e056d3b3431766d0509244793c3f9366450f76ee3de43f5a125333a6be0601229da0
        c81787064021e78df658f2fbb0b042bf304665db721f077a4298b095e4834c082c03d83028efbf93a3c23940ca8d
        """)),
    ECDSA(
      hash: .sha1, message: "test",
      privateForm: hex(
        """
        04ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc1380
        15d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd25332647206b9d3d
        ad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5
        """),
      signature: hex(
        """
        4bc35d3a50ef4e30576f58cd96ce6bf638025ee624004a1f7789a8b8e43d0678acd9d29876daf46638645f7f404b11c7d5a6
        326c494ed3ff614703878961c0fde7b2c278f9a65fd8c4b7186201a2991695ba1c84541327e966fa7b50f7382282
        """)),
    ECDSA(
      hash: .sha512, message: "test",
      privateForm: hex(
        """
        0401894550d0785932e00eaa23b694f213f8c3121f86dc97a04e5a7167db4e5bcd371123d46e45db6b5d5370a7f20fb63315
        5d38ffa16d2bd761dcac474b9a2f5023a400493101c962cd4d2fddf782285e64584139c2f91b47f87ff82354d6630f746a28
        a0db25741b5b34a828008b22acc23f924faafbd4d33f81ea66956dfeaa2bfdfcf500fad06daa62ba3b25d2fb40133da75720
        5de67f5bb0018fee8c86e1b68c7e75caa896eb32f1f47c70855836a6d16fcc1466f6d8fbec67db89ec0c08b0e996b83538
        """),
      signature: hex(
        """
        013e99020abf5cee7525d16b69b229652ab6bdf2affcaef38773b4b7d08725f10cdb93482fdcc54edcee91eca4166b2a7c62
        65ef0ce2bd7051b7cef945babd47ee6d01fbd0013c674aa79cb39849527916ce301c66ea7ce8b80682786ad60f98f7e78a19
        ca69eff5c57400e3b3a0ad66ce0978214d13baf4e9ac60752f7b155e2de4dce3
        """)),
    ECDSA(
      hash: .sha256, message: "sample",
      privateForm: hex(
        """
        0401894550d0785932e00eaa23b694f213f8c3121f86dc97a04e5a7167db4e5bcd371123d46e45db6b5d5370a7f20fb63315
        5d38ffa16d2bd761dcac474b9a2f5023a400493101c962cd4d2fddf782285e64584139c2f91b47f87ff82354d6630f746a28
        a0db25741b5b34a828008b22acc23f924faafbd4d33f81ea66956dfeaa2bfdfcf500fad06daa62ba3b25d2fb40133da75720
        5de67f5bb0018fee8c86e1b68c7e75caa896eb32f1f47c70855836a6d16fcc1466f6d8fbec67db89ec0c08b0e996b83538
        """),
      signature: hex(
        """
        01511bb4d675114fe266fc4372b87682baecc01d3cc62cf2303c92b3526012659d16876e25c7c1e57648f23b73564d67f61c
        6f14d527d54972810421e7d87589e1a7004a171143a83163d6df460aaf61522695f207a58b95c0644d87e52aa1a347916e4f
        7a72930b1bc06dbe22ce3f58264afd23704cbb63b29b931f7de6c9d949a7ecfc
        """)),
  ]

  /// NIST, ECC CDH primitive (SP 800-56A): the first vector of each curve.
  struct ECDH: Sendable {
    /// 04 ‖ X ‖ Y ‖ K.
    var privateForm: [UInt8]
    var peer: [UInt8]
    var secret: [UInt8]
  }

  static let ecdh = [
    ECDH(
      privateForm: hex(
        """
        04ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b23028af61281fd35e2fa7002523acc85a429c
        b06ee6648325389f59edfce14051417d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534
        """),
      peer: hex(
        """
        04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287db71e509e3fd9b060ddb20ba5c51dcc594
        8d46fbf640dfe0441782cab85fa4ac
        """),
      secret: hex("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b")),
    ECDH(
      privateForm: hex(
        """
        049803807f2f6d2fd966cdd0290bd410c0190352fbec7ff6247de1302df86f25d34fe4a97bef60cff548355c015dbb3e5fba
        26ca69ec2f5b5d9dad20cc9da711383a9dbe34ea3fa5a2af75b46502629ad54dd8b7d73a8abb06a3a3be47d650cc993cc312
        2a68f0d95027ad38c067916ba0eb8c38894d22e1b15618b6818a661774ad463b205da88cf699ab4d43c9cf98a1
        """),
      peer: hex(
        """
        04a7c76b970c3b5fe8b05d2838ae04ab47697b9eaf52e764592efda27fe7513272734466b400091adbf2d68c58e0c50066ac
        68f19f2e1cb879aed43a9969b91a0839c4c38a49749b661efedf243451915ed0905a32b060992b468c64766fc8437a
        """),
      secret: hex(
        """
        5f9d29dc5e31a163060356213669c8ce132e22f57c9a04f40ba7fcead493b457e5621e766c40a2e3d4d6a04b25e533f1
        """)),
    ECDH(
      privateForm: hex(
        """
        0400602f9d0cf9e526b29e22381c203c48a886c2b0673033366314f1ffbcba240ba42f4ef38a76174635f91e6b4ed34275eb
        01c8467d05ca80315bf1a7bbd945f550a501b7c85f26f5d4b2d7355cf6b02117659943762b6d1db5ab4f1dbc44ce7b2946eb
        6c7de342962893fd387d1b73d7a8672d1f236961170b7eb3579953ee5cdc88cd2d017eecc07ab4b329068fba65e56a1f8890
        aa935e57134ae0ffcce802735151f4eac6564f6ee9974c5e6887a1fefee5743ae2241bfeb95d5ce31ddcb6f9edb4d6fc47
        """),
      peer: hex(
        """
        0400685a48e86c79f0f0875f7bc18d25eb5fc8c0b07e5da4f4370f3a9490340854334b1e1b87fa395464c60626124a4e70d0
        f785601d37c09870ebf176666877a2046d01ba52c56fc8776d9e8f5db4f0cc27636d0b741bbe05400697942e80b739884a83
        bde99e0f6716939e632bc8986fa18dccd443a348b6c3e522497955a4f3c302f676
        """),
      secret: hex(
        """
        005fc70477c3e63bc3954bd0df3ea0d1f41ee21746ed95fc5e1fdf90930d5e136672d72cc770742d1711c3c3a4c334a0ad97
        59436a4d3c5bf6e74b9578fac148c831
        """)),
  ]

  /// NIST, ANSI X9.63-2001 key derivation (SP 800-135).
  struct X963: Sendable {
    var hash: HashFunction
    var secret: [UInt8]
    var sharedInfo: [UInt8]
    var output: [UInt8]
  }

  static let x963 = [
    X963(
      hash: .sha1, secret: hex("1c7d7b5f0597b03d06a018466ed1a93e30ed4b04dc64ccdd"), sharedInfo: hex(""),
      output: hex("bf71dffd8f4d99223936beb46fee8ccc")),
    X963(
      hash: .sha224, secret: hex("295bebb724f5bd120c97690d034487e60398fbed6facca88"),
      sharedInfo: hex("1a45c3460cf33d23209aa90a3c4ca708"),
      output: hex(
        """
        e72d4748fbc36b163efe655d19a0aca946baf35cbbfe4c9a69b81597348c53740fda2ece02baa6f7a9f2b64195c09840e4c2
        d1e11a229243e3014c7cfcbca5afb1a209af6955b3ef1234f1c45ad458bcfa458041eceff639756a2d81a2bfa64687df82a7
        91f96f9441e9f72b5a11c4246acdb75f176c5a89bec7ad36da651f5c
        """)),
    X963(
      hash: .sha256, secret: hex("96c05619d56c328ab95fe84b18264b08725b85e33fd34f08"), sharedInfo: hex(""),
      output: hex("443024c3dae66b95e6f5670601558f71")),
    X963(
      hash: .sha256, secret: hex("22518b10e70f2a3f243810ae3254139efbee04aa57c7af7d"),
      sharedInfo: hex("75eef81aa3041e33b80971203d2c0c52"),
      output: hex(
        """
        c498af77161cc59f2962b9a713e2b215152d139766ce34a776df11866a69bf2e52a13d9c7c6fc878c50c5ea0bc7b00e0da24
        47cfd874f6cf92f30d0097111485500c90c3af8b487872d04685d14c8d1dc8d7fa08beb0ce0ababc11f0bd496269142d4352
        5a78e5bc79a17f59676a5706dc54d54d4d1f0bd7e386128ec26afc21
        """)),
  ]
}
