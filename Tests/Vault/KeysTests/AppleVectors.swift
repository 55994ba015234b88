internal import Primitives

@testable internal import Keys

/// Ciphertexts that Apple's `SecKeyCreateEncryptedData` made with its ECIES algorithms, with their private keys. They
/// are from the tests of open-source programs that decrypt this format on other systems.
enum AppleVectors {
  struct ECIES: Sendable {
    var hash: HashFunction
    var nonce: EncryptionScheme.Nonce
    var plaintext: String
    var privateForm: [UInt8]
    var ciphertext: [UInt8]
  }

  static let ecies = [
    ECIES(
      hash: .sha224, nonce: .zero, plaintext: "P256-SHA224-0IV",
      privateForm: hex(
        """
        04ed6b6dc261bcaa48b96d4daeb4c6ae80159b583f49c7f50fce09c6c6d8601ed7b2a8f1a87c18c1c0f6536f18fe96b20637
        21d175b3a44aeb03ef4e75586f279a9cb37dcca9b708d892075c1617c9973b4b3e671fcb3c8216cecda10b826c0021
        """),
      ciphertext: hex(
        """
        04f20c85e40eaf3d25f7012370e1d0110d7a0fd1a8f129bc6c43372c080c10751ffde1f2deed285657e1da9a3da1c3c2b8a1
        b66d0dbcc25b10d0de92349dceddab92fd07a852880b55c277f91d4e39e8b1109caa794927eb307c2dcaa867e636
        """)),
    ECIES(
      hash: .sha256, nonce: .derived, plaintext: "P256-SHA256-VIV",
      privateForm: hex(
        """
        04ce0158c3746a73bd882181d5ec91fa336e399ff9cb9f1cab7b503bb1ce673addf56727c940b5c6b38758d1c8209dedbcb9
        e5c7203e652b3d49342858e3d3476271a1c67a6ede41bf9d6e68cc3649f934c542f2fa3329c2710583ea31d5e29d14
        """),
      ciphertext: hex(
        """
        048eac0421b27fdd7a190495dc31cebe61713a6cdb57da6ad3cc1c39d29a7a93f6fd0b5ea63f4cef57589335dfe8ea88b2d0
        f2c952317e700c7d4a71673a021c36da958473cf086a1f083b2ba44d975176f4f55d2cdb491f8f7cc8949f9685bf
        """)),
    ECIES(
      hash: .sha224, nonce: .zero, plaintext: "P384-SHA224-0IV",
      privateForm: hex(
        """
        0478f7c561211f6d4e0c8e505773244432a8e53c982b3898a3c7cd37045207e95f527ce593b0fa814044b75d84743b26f9a0
        65f610342e82af3a0bdc7e687241b9e1992ad9157a9269f9992a274068c3e2527789cd01d89a5be034075836dcb2d008d7c2
        88ff9da6885d7f806a5838e9ef9308d7c06cffb4e79d95c6d684c4c47e201a0074954d2cf177d3f2ba7e5c4680
        """),
      ciphertext: hex(
        """
        047c2a0e420ff3ef21c170e52775bf530e28a951e1a60dc36e3fe5c76ba4c23c0bdf14853601a9351857508bf416cdaa1b15
        1718a3063486bef3f79bbc736e26a8d5d29011e761d9efd7505a907f7ac232f3fc39d784d22d29a9e9f224e18b7b802cbe98
        128dfdb0bd9c8c0c0a388f49da6e842b7e25cf8a6598e027b04b513e
        """)),
    ECIES(
      hash: .sha384, nonce: .derived, plaintext: "P384-SHA384-VIV",
      privateForm: hex(
        """
        04e8567ced64a375295868b7e3283770a23c36743e80835eb74fd6e1d0eb59f3e1756b35dc60c72354242e9c77482c6ee8e6
        7baeb0c6bab6f33a966012afac5b48952e16f8d92ec828b99c00641e7a3b6a5016bff7c3eda43c037666599a21b1a5b92ede
        b00518a2102d8eef58b796ff09b6083e60fe18de00a3ec1ee73ad7503bfe4f40f463a453c9ddfb74ca36f31c46
        """),
      ciphertext: hex(
        """
        04ce394d111bc442dfc294d506696dcfeb01def86433ce66ff2880b04f0948d99754e79e506ce6c4fe59da37a00293f1b4e4
        bc8a57e14cdfe6d9790ea09586c3730ab9e92ae55e4f71dbc08b9c4a728384ca7912eee00a4b79e1047ffe83ef7f88da1371
        14ab1296e09bc74e0867be55143b84af2f234651c3be247ab9e5343c
        """)),
    ECIES(
      hash: .sha512, nonce: .zero, plaintext: "P521-SHA512-0IV",
      privateForm: hex(
        """
        0400fe303c5f6ef6def59459719816c8305ba5fdc9c478a2d2249c8f136a3560a525695e8477d7f2788613a54d92d450de53
        08c034af532dc4b227b1de0bbc447667c001b33e3c0b9b5ff0d986ce7e9d9308d4cbf26e9e6147cb53448d5bb07ad64a0bf9
        2939d324c7a2c78fefe966336b7cc7ab8ab322dda3e5c221ebe95bc204874b39c200a8aa70759f49742dc9755a4cee08f506
        091ea772cd4e4616a8462ac0d7b9c3ba32cc3875c94d0b559cde7f264d75a6a053a0c635d67ee6ef5c1ea9e1f46ad0e605
        """),
      ciphertext: hex(
        """
        04006a26831af3d683d2b46467e5ab9964dea947dcaf7baf2e6ca4eca95b58f9b8e66d29b437aab1ac45b6a78cd1547a2280
        4c41cbdc09c5be87394b3ebee2d792c99400f32987bb6a5ed5a75d1f2419e784cd8aed9d76a3f56d3b29c412df9e7792243f
        d062a2937fdecc25efd71a1d0a97c57f925908a3c28b0c874ac614964f8ec3c570fa5ef008fd0a2277cb48511f50f87e9faa
        b69c7d2ce04bcae5ef4707458b46
        """)),
    ECIES(
      hash: .sha512, nonce: .derived, plaintext: "P521-SHA512-VIV",
      privateForm: hex(
        """
        04008062ce75abea48ac4da4f76a7696d8ecd220474def0a8fec35fb1e617e65d2d6d5f4691fa469b6f9a9ee90f3706cbeaf
        dd9a3dd1e7d5d6988693cfab49a6b4abda00ea4b68bdc295aca660cd0f6758be12840978f4f7d090b75f55f78a98c948db5c
        c103929beae59590d8304e9d1dd79eec163988fe3ec920d25b1e2a4a24e02b49e000834764883328e9fad2073e74842da5b9
        3dd3d2832ffe73e7bb89d447ec7d3d6b8689ce1c04792b96b50ec324c17c69ae83c7d8c4dcb6cad261044c821a8a2448af
        """),
      ciphertext: hex(
        """
        040048922fa18d1ed6987519cf4df24de95b1fe784c27d03b69bfc171c21edcc9ab9ed9971e032b6395b403d980371470b66
        7434c964fc1d02d84b3c75998f13d91e12006c516d0f8d3e02c9e7e01487366049b9c83a5c6c910a863e859469ce8abd6727
        3f1931331d898eaf22b44204ba3af8493b8927d020e1ab7444771129c4fe039d5ac7783b75660d0af02dba1322329f9e0981
        1a50b9b1d614cd26d096c5f6514b
        """)),
    ECIES(
      hash: .sha384, nonce: .derived, plaintext: "hello world from swift!",
      privateForm: hex(
        """
        0404a3a6463905c9d22b81333f9245dfa4a3c61d26d543bc4e56622188021315ddbea53c9bab1a74ec3c7797b92e0d2f6b13
        f3e287d5a59ad5f1e7df572cc00e0a2c4fe4e095f792c10bddfd9e7e2de1b145e324b246778de82e1f8aab1e732239
        """),
      ciphertext: hex(
        """
        040c89f27d377dc8c522cc1b8b775d5a94a179c1f313091db2ca97457f3676465244ce0f022746373568a7293023c1567c58
        f7ca14bb7dff1682a360eb549fb4bac17152929b6bb09fea12ef0cc683c2ead3b2796c98fe85105d2604ad2c10f92eeac957
        79cca1f3
        """)),
  ]
}
